// Package secret keeps the values of declared secrets out of what is recorded and shown.
//
//	               ┌─ Encode, Encoder ─▶ a reference: ␚TOKEN␚   (recorded; Decode puts today's value back)
//	text ─▶ Set ───┤
//	               └─ Mask, Masker ────▶ ***                    (shown)
//
//	set.go     the declared secrets, whole texts             json.go   the same over the strings of a JSON value
//	masker.go  Encoder and Masker: streams as they come      match.go  finds them: one pass, longest first
//	hider.go   Hider: values also where they are encoded, for text that leaves xmd
//
// A reference is the name of the secret between two characters U+001A (␚ above). Nothing between the two stands for the character
// itself, so that every text can be recorded, also one that looks like a reference: whatever secrets there are, or none,
// Decode(Encode(x)) is x. Only a secret that the run made for itself (Set.Hide) does not come back: in its place stands *** for good.
//
// Where secrets begin at one place the longest counts, and what it covers is not looked at again. Of two that merely overlap only the
// first is found.
package secret
