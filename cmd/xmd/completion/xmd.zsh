#compdef xmd
# Completion of xmd for zsh: source <(xmd completion zsh), or this file as _xmd in a folder of $fpath
_xmd() {
	local line text
	local -a ends ends_shown open open_shown
	while IFS= read -r line; do
		text=${line%%$'\t'*}
		if [[ $text == *[/=#] ]]; then
			open+=("$text") open_shown+=("${line/$'\t'/  -- }")
		else
			ends+=("$text") ends_shown+=("${line/$'\t'/  -- }")
		fi
	done < <("${(Q)words[1]}" __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
	compadd -l -d ends_shown -a ends
	compadd -l -S '' -d open_shown -a open
}
if [[ ${funcstack[1]} == _xmd ]]; then
	_xmd "$@"
else
	compdef _xmd xmd
fi
