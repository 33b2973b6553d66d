/** `quadrille completion SHELL`: prints a completion script for the shell, made from the table of options. */

import { didYouMean } from '../../options/suggest.ts';
import type { Arguments } from '../arguments.ts';
import { COMMANDS, type Command, OPTIONS, type Option, optionsOf } from '../options.ts';
import { SHAPE_NAMES } from '../shape-ranges.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { firstSentence } from './help.ts';

const NAMED = COMMANDS.filter(c => c !== 'integrate');
const SHELLS = { bash, zsh, fish };

export async function completionCommand({ rest }: Arguments, { out }: Terminal): Promise<number> {
  const [shell, more] = rest;
  if (shell === undefined || more !== undefined)
    throw new UsageError('One shell has to be named.', 'Write quadrille completion bash, zsh or fish.');
  if (!Object.hasOwn(SHELLS, shell))
    throw new UsageError(
      `There is no completion for '${shell}'.`,
      didYouMean(shell, Object.keys(SHELLS)) ?? 'There are bash, zsh and fish.',
    );
  out.write(SHELLS[shell as keyof typeof SHELLS]());
  return 0;
}

const flags = (command: Command): string =>
  optionsOf(command)
    .map(o => `--${o.name}`)
    .join(' ');

/** Shapes follow several variables: x,y=ball. */
const shapes = SHAPE_NAMES.join(' ');

const withChoices = OPTIONS.filter(o => o.choices);

function bash(): string {
  const values = withChoices.map(
    o => `    --${o.name}) COMPREPLY=($(compgen -W "${o.choices!.join(' ')}" -- "$word")); return ;;`,
  );
  const options = NAMED.map(c => `    ${c}) options="${flags(c)}" ;;`);
  return `# completion of quadrille for bash
_quadrille() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} options
  # most shells cut words at =, so that x,y=ba is three of them
  if [[ $word == *,*=* ]]; then COMPREPLY=($(compgen -P "\${word%%=*}=" -W "${shapes}" -- "\${word#*=}")); return
  elif [[ $word == = && $before == *,* ]]; then COMPREPLY=(${shapes}); return
  elif [[ $before == = && \${COMP_WORDS[COMP_CWORD-2]} == *,* ]]; then COMPREPLY=($(compgen -W "${shapes}" -- "$word")); return
  fi
  case $before in
${values.join('\n')}
    --svg) COMPREPLY=($(compgen -f -- "$word")); return ;;
    completion) COMPREPLY=($(compgen -W "${Object.keys(SHELLS).join(' ')}" -- "$word")); return ;;
  esac
  case \${COMP_WORDS[1]} in
${options.join('\n')}
    *) options="${flags('integrate')}" ;;
  esac
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W "${NAMED.join(' ')}" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _quadrille quadrille
`;
}

function zsh(): string {
  const entry = ({ name, kind, help, choices, repeats }: Option) => {
    const value =
      kind === 'flag'
        ? ''
        : `:${name}:${choices ? `(${choices.join(' ')})` : kind === 'file' ? '_files' : ' '}`;
    return `'${repeats ? '*' : ''}--${name}[${quoted(help)}]${value}'`;
  };
  const options = (command: Command) => optionsOf(command).map(entry).join(' \\\n        ');
  const cases = NAMED.map(
    c =>
      `    ${c}) _arguments ${options(c)} '*:${c === 'completion' ? 'shell:(bash zsh fish)' : 'file:_quadrille_range'}' ;;`,
  );
  return `#compdef quadrille
# completion of quadrille for zsh
_quadrille_range() { if compset -P '*,*='; then compadd ${shapes}; else _files; fi }
_quadrille() {
  local -a commands
  commands=(${NAMED.map(c => `'${c}:${quoted(firstSentence(c))}'`).join(' ')})
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then _describe command commands; return; fi
  case $words[2] in
${cases.join('\n')}
    *) _arguments ${options('integrate')} '*:range:_quadrille_range' ;;
  esac
}
if [[ $funcstack[1] == _quadrille ]]; then _quadrille "$@"; else compdef _quadrille quadrille; fi
`;
}

function fish(): string {
  const named = NAMED.join(' ');
  const lines = NAMED.map(
    c => `complete -c quadrille -n '__fish_is_first_token' -f -a ${c} -d '${quoted(firstSentence(c))}'`,
  );
  for (const o of OPTIONS) {
    // an option of all commands needs no condition; options of expressions apply where there is no command
    const where = o.commands.map(c =>
      c === 'integrate' ? `not __fish_seen_subcommand_from ${named}` : `__fish_seen_subcommand_from ${c}`,
    );
    const condition = o.commands.length === COMMANDS.length ? '' : ` -n '${where.join('; or ')}'`;
    const value =
      o.kind === 'flag'
        ? ''
        : o.choices
          ? ` -x -a '${o.choices.join(' ')}'`
          : o.kind === 'file'
            ? ' -r'
            : ' -x';
    lines.push(`complete -c quadrille${condition} -l '${o.name}'${value} -d '${quoted(o.help)}'`);
  }
  lines.push(
    `complete -c quadrille -n '__fish_seen_subcommand_from completion' -f -a '${Object.keys(SHELLS).join(' ')}'`,
  );
  lines.push(
    `complete -c quadrille -f -n "string match -q '*,*=*' -- (commandline -ct)" -a "(string replace -r '=.*' '=' -- (commandline -ct)){${SHAPE_NAMES.join()}}"`,
  );
  return `# completion of quadrille for fish\n${lines.join('\n')}\n`;
}

/** Removes quotes, brackets and colons, which have a meaning in one shell or another. */
const quoted = (text: string): string => text.replace(/['"[\]:\\$`]/g, '');
