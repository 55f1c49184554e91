// A module with a known hole (GO-2021-0113), which make vuln has to find before it judges xmd. Nothing else is built of it.
module vulnerable

go 1.26

require golang.org/x/text v0.3.5
