# Completes the volvox command in bash: source <(volvox completion bash)
# It asks volvox for the names, so that it never goes stale.
_volvox() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} volvox=${COMP_WORDS[0]}
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "run sweep picture list info bench crosscheck net scan new replay view export completion --help --version" -- "$word"))
    return
  fi
  case $previous in
    --engine|--engines) COMPREPLY=($(compgen -W "$("$volvox" list engines --names 2>/dev/null)" -- "$word")); return ;;
    --out|--in) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --camera) COMPREPLY=($(compgen -W "corner front back left right top" -- "$word")); return ;;
    --docks) COMPREPLY=($(compgen -W "none state load" -- "$word")); return ;;
    --save|--restore|--video|--plugin|-o|--output) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --set|--vary) COMPREPLY=($(compgen -W "$("$volvox" info "${COMP_WORDS[2]}" --names 2>/dev/null)" -S = -- "$word")); compopt -o nospace; return ;;
  esac
  case $command in
    run|sweep|picture|bench|crosscheck)
      if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "--engine --duration --dt --substep --seed --threads --set --save --save-every --restore --plugin --isolate --real-time --record --pcap --view --paused --host --port --no-browser --no-token --out --json --quiet --video --camera --size --docks --rays --messages --renderer --at --strobe --output --engines --seconds --modules --scenes --n --repeats --limit --list --csv --tolerance --seeds --jobs --vary --help" -- "$word"))
      else
        [[ $command == bench ]] && COMPREPLY=($(compgen -W "engines" -- "$word"))
        COMPREPLY+=($(compgen -W "$("$volvox" list experiments --names 2>/dev/null)" -- "$word") $(compgen -f -X '!*.sdf' -- "$word"))
      fi ;;
    list) COMPREPLY=($(compgen -W "experiments robots engines behaviors sensors actuators noise renderers extensions plugins --json --names" -- "$word")) ;;
    info) COMPREPLY=($(compgen -W "engines $("$volvox" list --names 2>/dev/null)" -- "$word") $(compgen -f -X '!*.sdf' -- "$word")) ;;
    net) COMPREPLY=($(compgen -W "flood --nodes --mode --layout --dimension --spacing --range --cull --window --slot --rate --payload --source --seed --pcap --json --help" -- "$word")) ;;
    scan)
      if [[ $COMP_CWORD -eq 2 ]]; then
        COMPREPLY=($(compgen -W "simulate locate clean build evaluate register run --help" -- "$word"))
      elif [[ $previous == --method ]]; then
        COMPREPLY=($(compgen -W "gsrm gg pf" -- "$word"))
      elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "--output --method --triangles --nodes --steps --truth --path --cloud --points --outliers --noise --shake --drift --length --width --height --boxes --no-pit --cell --least --no-filter --raw --density --robot --behavior --engine --duration --out --seed --json --quiet --help" -- "$word"))
      else
        COMPREPLY=($(compgen -f -- "$word"))
      fi ;;
    new) COMPREPLY=($(compgen -W "behavior robot experiment --in" -- "$word")) ;;
    replay) COMPREPLY=($(compgen -W "--verify --threads --host --port --no-browser --no-token --json --quiet --help" -- "$word") $(compgen -d -- "$word")) ;;
    view) COMPREPLY=($(compgen -W "$("$volvox" list robots --names 2>/dev/null) --host --port --no-browser --no-token --help" -- "$word") $(compgen -f -X '!*.sdf' -- "$word")) ;;
    export) COMPREPLY=($(compgen -W "--csv --out --help" -- "$word") $(compgen -d -- "$word")) ;;
    completion) COMPREPLY=($(compgen -W "bash" -- "$word")) ;;
  esac
}
complete -F _volvox volvox
