// The plans for the documents' commands: general rules in this file, those for single pages in page-plans.ts.
import { pagePlans, pageRules } from './page-plans.ts';
import type { Plan, Plans } from './plan.ts';
import {
  greets,
  isReady,
  lastSession,
  limited,
  refusal,
  savesProgram,
  serves,
  servesHere,
  servesNoMore,
} from './scenes.ts';

/** Suites that take minutes, download programs or measure. tests/docs.test.ts checks their names and options. */
const suites = ['bench', 'check', 'docs', 'generate -- sizes', 'release', 'verify'].join('|');

const onItsOwn = 'a separate suite; tests/docs.test.ts checks that its name, files and options exist';

const ofTheTemplate =
  'applies to a package that npm run new creates; README.md runs the same for a provider, and ' +
  'scripts/test/new.slow.test.ts tests every template';

/** Commands typed in the clone. */
const ofTheClone: readonly Plan[] = [
  { command: /^npm start( --)?$/, keyless: true },
  { command: 'npm start -- ARGS', fill: [['ARGS', '--version']] },
  {
    command: /^npm start -- "\.\.\." -m openai/,
    fill: [
      ['"..."', '"say hello"'],
      ['http://localhost:11434', '$DOCS_MODEL'],
    ],
    keyless: true,
  },
  { command: 'npm run try FILE', fill: [['FILE', 'examples/hello.ts']], keyless: true },
  { command: /^npm run try (-- )?examples\//, keyless: true },
  { command: /^npm run try (-- )?[\w-]+\.ts$/, before: savesProgram },
  { command: 'npm run new', codes: [1], prints: /The arguments are missing/ },
  { command: 'npm run new -- provider acme', once: true },
  { command: 'npm run new -- tool NAME', fill: [['NAME', 'made-up']] },
  { command: /^npm run new -- \w+ NAME$/, fill: [['NAME', 'made-up --dry-run']] },
  { command: 'npm test -- PATH', fill: [['PATH', 'scripts/test/sizes.test.ts']] },
  // In a new package the contract fails, as the pages say.
  {
    command: 'npm test -- packages/provider-acme',
    once: true,
    codes: [1],
    prints: /0 passed, 1 failed/,
  },
  { command: /^npm test -- packages\/provider-acme -t/, codes: [1], prints: /failed/ },
  { command: /^npm run exec -- turbo run build/, once: true },
  {
    command: 'npm run exec -- changeset',
    way: 'terminal',
    keys: [[/[Ww]hich packages|[Ss]elect|change/, '']],
    codes: [0, 1, 130],
  },
];

/** Commands of the CLI, as `cobbler` and from the clone. */
const ofTheCommandLine: readonly Plan[] = [
  { command: 'cobbler run', fill: [['run', 'run "say hello"']] },
  { command: 'cobbler run --json', fill: [['--json', '--json "say hello"']] },
  { command: /^cobbler -c/, before: 'cobbler "say hello"' },
  { command: 'cobbler resume', before: limited },
  {
    command: /^cobbler --record FILE/,
    fill: [
      ['FILE', 'run.jsonl'],
      ['"…"', '"say hello"'],
    ],
  },
  {
    command: /^cobbler --replay FILE/,
    before: '[ -e run.jsonl ] || cobbler --record run.jsonl "say hello"',
    fill: [['FILE', 'run.jsonl']],
  },
  { command: 'cobbler explain CODE', fill: [['CODE', 'no_key']] },
  { command: 'cobbler help COMMAND', fill: [['COMMAND', 'serve']] },
  {
    command: /^cobbler config set-key \w+$/,
    fill: [
      ['PROVIDER', 'claude'],
      ['set-key claude', 'set-key claude <<<"$DOCS_KEY"'],
      ['set-key gemini', 'set-key gemini <<<"$DOCS_KEY"'],
    ],
  },
  {
    command: /^cobbler doctor FILE/,
    before: 'cobbler run --json "say hello" > run.jsonl',
    fill: [['FILE', 'run.jsonl']],
  },
  {
    command: /^cobbler sessions (show|export) ID/,
    before: 'cobbler "say hello"',
    fill: [['ID', lastSession]],
  },
  {
    command: 'cobbler sessions export',
    before: 'cobbler "say hello"',
    fill: [['export', `export ${lastSession}`]],
  },
  {
    command: 'cobbler backup FOLDER',
    before: 'cobbler "say hello"',
    fill: [['FOLDER', '$DOCS_FOLDER/copy']],
  },
  {
    command: 'cobbler restore FOLDER',
    before: '[ -e $DOCS_FOLDER/copy ] || { cobbler "say hello" && cobbler backup $DOCS_FOLDER/copy; }',
    fill: [['cobbler restore FOLDER', 'COBBLER_HOME=$DOCS_FOLDER/new cobbler restore $DOCS_FOLDER/copy']],
  },
  {
    command: 'cobbler chat -s ID',
    way: 'terminal',
    keys: isReady,
    before: 'cobbler "say hello"',
    fill: [['ID', lastSession]],
  },
  { command: 'cobbler chat -c', way: 'terminal', keys: isReady, before: 'cobbler "say hello"' },
  { command: /^(cobbler|npm start --) chat --demo$/, way: 'terminal', keys: isReady, keyless: true },
  { command: /^(cobbler|npm start --) chat\b/, way: 'terminal', keys: isReady },
  { command: /^(cobbler|npm start --) assistant --local$/, way: 'terminal', keys: greets, keyless: true },
  { command: 'cobbler assistant status', fill: [['status', 'status --api-root $DOCS_TELEGRAM']] },
  {
    command: 'cobbler assistant',
    way: 'server',
    fill: [['assistant', 'assistant --api-root $DOCS_TELEGRAM']],
    before: 'TELEGRAM_BOT_TOKEN=$DOCS_BOT',
    prints: /ready/,
  },
  { command: /^(cobbler|npm start --) (acp|mcp)\b/, way: 'speak' },
];

/** Servers and requests to them. */
const ofTheServer: readonly Plan[] = [
  { command: /^(cobbler|npm start --) serve\b/, way: 'server', fill: servesHere },
  { command: 'cobbler approve', before: serves, after: servesNoMore },
  { command: /^api (?!-N)/, never: refusal },
  { command: /^api -N .*\/events$/, way: 'follow', prints: /"type":"user"/ },
];

/** Commands that do not run. */
const notHere: readonly Plan[] = [
  { command: /^npm test( -- -t .*)?$/, apart: onItsOwn },
  { command: 'npm run bench -- --help' },
  { command: new RegExp(`^npm run (${suites})(?![\\w:-])`), apart: onItsOwn },
  { command: /^npm test -- packages\/\w+-your-own$|^import [\s\S]*-your-own'/, apart: ofTheTemplate },
  {
    command: /^npm install (--save-dev )?@cobbler\//,
    apart: 'the packages are in no registry; npm run verify -- packed installs all packed tarballs',
  },
  {
    command: /^(claude|codex) /,
    apart: 'a program of another vendor; npm run verify -- clis downloads and runs the real ones',
  },
  {
    command: /^npm run (exec -- COMMAND|generate -- NAME)$/,
    apart: 'a pattern: the words in capitals are placeholders',
  },
  { command: /^npm test; curl/, apart: 'an example of a denied command: nothing to type' },
];

export const plans: Plans = {
  fill: [
    ['/path/to/project', '$DOCS_PROJECT'],
    ['path/to/project', '$DOCS_PROJECT'],
    ['ANTHROPIC_API_KEY=...', 'ANTHROPIC_API_KEY=$DOCS_KEY'],
    ['sk-ant-…', '$DOCS_KEY'],
    ['12345678:AAE…', '$DOCS_BOT'],
    ['cbk_…', '$DOCS_TOKEN'],
  ],
  pages: pagePlans,
  commands: [...pageRules, ...ofTheClone, ...ofTheCommandLine, ...ofTheServer, ...notHere],
};
