# Completion of xmd for fish: xmd completion fish | source
function __xmd_complete
	set -l words (commandline -opc)
	set -l program $words[1]
	set -e words[1]
	$program __complete fish $words (commandline -ct | string unescape) 2>/dev/null
end
complete -c xmd -f -a '(__xmd_complete)'
