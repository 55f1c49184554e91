package main

// strangeOwner is never told: who may write into a folder is said by its access list.
func strangeOwner(string, string) string { return "" }
