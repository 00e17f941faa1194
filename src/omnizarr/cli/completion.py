"""`oz completion`: print what makes a shell complete oz's words."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser

# Each script asks `oz __complete SHELL WORDS...` for what the last of the words may become, one a line.
_BASH: Final = """\
_oz() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(oz __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o filenames -F _oz oz
"""

_ZSH: Final = """\
#compdef oz
_oz() {
    local -a found
    found=("${(@f)$(oz __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    compadd -Q -S '' -a -- found
}
if [ "$funcstack[1]" = "_oz" ]; then
    _oz "$@"
else
    compdef _oz oz
fi
"""

_FISH: Final = """\
function __oz_complete
    set -l words (commandline -opc) (commandline -ct)
    oz __complete fish $words[2..-1] 2>/dev/null
end
complete -c oz -f -a '(__oz_complete)'
"""

SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="the shell that is to complete")
    parser.set_examples(
        (
            ('eval "$(oz completion bash)"', "for now, or in ~/.bashrc"),
            ("oz completion zsh > ~/.zfunc/_oz", "in a folder of $fpath"),
            ("oz completion fish > ~/.config/fish/completions/oz.fish", "for fish"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    script = SCRIPTS[arguments.shell]
    if out.as_json:
        out.json({"shell": arguments.shell, "script": script})
    else:
        out.lines(script.splitlines())
    return 0
