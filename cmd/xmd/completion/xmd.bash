# Completion of xmd for bash: source <(xmd completion bash)
_xmd() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		COMPREPLY+=("$line")
	done < <("$1" __complete bash "${COMP_LINE:0:COMP_POINT}" "${COMP_WORDS[COMP_CWORD]}" 2>/dev/null)
	# What goes on after it, a folder or a flag with its value, is followed by no blank.
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=#] ]]; then
		compopt -o nospace 2>/dev/null
	fi
}
complete -F _xmd xmd
