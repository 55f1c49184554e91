package expr

import "testing"

// world is what the table's expressions see.
func world(t testing.TB) map[string]any {
	t.Helper()
	env := map[string]any{}
	for name, text := range map[string]string{
		"n": `3`, "f": `1.5`, "big": `9223372036854775807`, "s": `"Ada"`, "empty": `""`, "yes": `true`, "no": `false`, "nothing": `null`,
		"xs": `[1,2,3]`, "none": `[]`, "labels": `["bug","docs"]`, "mixed": `["a",1,true,null]`,
		"o":     `{"b":2,"a":1,"let":"L","in":"I","deep":{"x":[{"y":7}]},"a b":5}`,
		"items": `[{"n":1,"ok":true,"name":"a"},{"n":2,"ok":false,"name":"b"},{"n":3,"ok":true,"name":"c"}]`,
		"count": `10`, "now": `"later"`, "type": `"t"`, "sum": `4`, "map": `"m"`, "umlaut": `"Grüße"`, "text": `"a,b,,c"`,
	} {
		v, err := ParseJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		env[name] = v
	}
	return env
}

var goodCases = []struct{ src, want string }{
	// literals
	{`1`, `1`}, {`0`, `0`}, {`-7`, `-7`}, {`1.5`, `1.5`}, {`2.0`, `2`}, {`1e3`, `1000`}, {`1e-2`, `0.01`}, {`true`, `true`}, {`null`, `null`},
	{`"a"`, `"a"`}, {`'a "b"'`, `"a \"b\""`}, {`"é\n\t\u00e9"`, `"é\n\té"`}, {`[]`, `[]`}, {`{}`, `{}`}, {`[1, "a", null,]`, `[1,"a",null]`},
	{`{"b": 1, a: 2}`, `{"a":2,"b":1}`}, {`{"let": 1}`, `{"let":1}`}, {`{"type": "object", "properties": {"x": {"type": "string"}}}`, `{"properties":{"x":{"type":"string"}},"type":"object"}`},
	{`9223372036854775807`, `9223372036854775807`}, {`9007199254740993`, `9007199254740993`}, {"\n 1 +\n 2 ", `3`},
	// paths
	{`n`, `3`}, {`o.a`, `1`}, {`o["a b"]`, `5`}, {`o.deep.x[0].y`, `7`}, {`o.let`, `"L"`}, {`o.in`, `"I"`}, {`o?.a`, `1`}, {`nothing?.a?.[0]`, `null`},
	{`nothing.a.b`, `null`}, {`o.missing`, `null`}, {`o.missing.more[3]`, `null`}, {`xs[0]`, `1`}, {`xs[9]`, `null`}, {`xs[-1]`, `null`}, {`xs[n - 1]`, `3`},
	{`o["a"]`, `1`}, {`o[first(keys(o))]`, `1`}, {`count`, `10`}, {`now`, `"later"`}, {`type`, `"t"`}, {`sum + 1`, `5`}, {`map`, `"m"`}, {`(o.deep).x`, `[{"y":7}]`},
	// ??
	{`nothing ?? "d"`, `"d"`}, {`o.missing ?? 1`, `1`}, {`n ?? 1`, `3`}, {`unbound ?? "d"`, `"d"`}, {`unbound.a.b ?? "d"`, `"d"`}, {`unbound ?? other ?? 2`, `2`},
	{`(nothing ?? 1) + 1`, `2`}, {`no ?? true`, `false`}, {`(unbound ?? {"a": 1}).a`, `1`},
	// arithmetic
	{`1 + 2 * 3`, `7`}, {`(1 + 2) * 3`, `9`}, {`7 / 2`, `3.5`}, {`4 / 2`, `2`}, {`7 % 3`, `1`}, {`-7 % 3`, `-1`}, {`7.5 % 2`, `1.5`}, {`7.0 % 2`, `1`}, {`1.5 + 1.5`, `3`},
	{`big + 1`, `9223372036854776000`}, {`big * big`, `8.507059173023462e+37`}, {`-big - 2`, `-9223372036854775808`}, {`big - big`, `0`}, {`-n`, `-3`}, {`+n`, `3`}, {`--n`, `3`}, {`0 * big`, `0`},
	{`0 - big - 1`, `-9223372036854775808`}, {`(0 - big - 1) / -1`, `9223372036854776000`}, {`(0 - big - 1) % -1`, `0`}, {`n - 10`, `-7`},
	// strings
	{`"a" + "b"`, `"ab"`}, {`s + " " + string(n)`, `"Ada 3"`}, {`s contains "d"`, `true`}, {`s startsWith "A"`, `true`}, {`s endsWith "A"`, `false`}, {`s matches "^A.a$"`, `true`},
	{`s matches ("^" + "x")`, `false`}, {`"b" > "a"`, `true`}, {`"a" >= "a"`, `true`}, {`"Z" < "a"`, `true`},
	// equality and order
	{`1 == 1.0`, `true`}, {`{"a": 1} == {"a": 1.0}`, `true`}, {`[1, [2]] == [1, [2]]`, `true`}, {`[1] == [1, 2]`, `false`}, {`big == 9223372036854775807.0`, `false`}, {`"1" == 1`, `false`},
	{`null == nothing`, `true`}, {`o.missing == null`, `true`}, {`n != 3`, `false`}, {`big < 9223372036854775807.0`, `true`}, {`f > 1`, `true`}, {`1 <= 1.0`, `true`}, {`-0.5 < 0`, `true`}, {`{} == {}`, `true`},
	// logic
	{`yes && !no`, `true`}, {`no && unbound`, `false`}, {`yes || unbound`, `true`}, {`yes ? 1 : unbound`, `1`}, {`no ? 1 : yes ? 2 : 3`, `2`}, {`!(n > 2)`, `false`}, {`n > 2 && n < 4`, `true`},
	// in
	{`2 in xs`, `true`}, {`2.0 in [1, 2]`, `true`}, {`"a" in o`, `true`}, {`"z" in o`, `false`}, {`!("bug" in labels)`, `false`}, {`null in mixed`, `true`},
	// functions
	{`len(s)`, `3`}, {`len(umlaut)`, `5`}, {`len(xs)`, `3`}, {`len(o)`, `6`}, {`len("")`, `0`}, {`lower("ÄB")`, `"äb"`}, {`upper(s)`, `"ADA"`}, {`trim(" a\n")`, `"a"`},
	{`split(text, ",")`, `["a","b","","c"]`}, {`join(labels, ", ")`, `"bug, docs"`}, {`join(mixed, "-")`, `"a-1-true-"`}, {`join(labels)`, `"bugdocs"`}, {`join([], ",")`, `""`},
	{`keys(o)`, `["a","a b","b","deep","in","let"]`}, {`values({"b": 2, "a": 1})`, `[1,2]`}, {`first(xs)`, `1`}, {`last(xs)`, `3`}, {`first(none)`, `null`}, {`last(none)`, `null`}, {`first(nothing)`, `null`},
	{`string(null)`, `""`}, {`string(["a"])`, `"[\n  \"a\"\n]"`}, {`string(1.50)`, `"1.5"`}, {`string(s)`, `"Ada"`}, {`json({"b": 1, "a": [null, "<"]})`, `"{\"a\":[null,\"<\"],\"b\":1}"`}, {`json(s)`, `"\"Ada\""`},
	{`fromJSON("{\"a\": 1.0}")`, `{"a":1}`}, {`fromJSON("9007199254740993")`, `9007199254740993`}, {`fromJSON(json(o)) == o`, `true`},
	// predicates
	{`map(items, .n)`, `[1,2,3]`}, {`map(xs, # * 2)`, `[2,4,6]`}, {`len(filter(items, .ok))`, `2`}, {`any(labels, # == "bug")`, `true`}, {`all(items, .n > 0)`, `true`},
	{`any(none, true)`, `false`}, {`all(none, false)`, `true`}, {`map(items, ({"k": .n}))`, `[{"k":1},{"k":2},{"k":3}]`}, {`map(items, any(xs, # == 2))`, `[true,true,true]`}, {`map(filter(items, !.ok), .name)[0]`, `"b"`},
	{`join(map(items, .name), "+")`, `"a+b+c"`}, {`any(items, #.n == n)`, `true`}, {`all(xs, # in xs)`, `true`}, {`map([1], [#])`, `[[1]]`},
}

func TestEval(t *testing.T) {
	env := world(t)
	for _, c := range goodCases {
		t.Run(c.src, func(t *testing.T) {
			e, errs := Compile(c.src, 100)
			if len(errs) > 0 {
				t.Fatalf("does not compile: %s", show(errs))
			}
			for range 2 {
				v, err := e.Eval(env)
				if err != nil {
					t.Fatalf("eval: %v", err)
				}
				if got := JSON(v); got != c.want {
					t.Errorf("is %s, want %s", got, c.want)
				}
				if n, err := Normalize(v); err != nil || !Equal(n, v) || JSON(n) != JSON(v) {
					t.Errorf("the result is not normalized: %#v", v)
				}
			}
			again, errs := Compile("("+e.Canonical()+")", 0)
			if len(errs) > 0 || again.Canonical() != e.Canonical() {
				t.Errorf("canonical form %s is not stable", e.Canonical())
			}
		})
	}
	if len(goodCases) < 100 {
		t.Errorf("only %d cases", len(goodCases))
	}
}
