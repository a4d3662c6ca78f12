import type { MockReply, ReadRequest } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { claudeTesting } from '@cobbler/provider-claude/testing';
import { onTestFinished } from 'vitest';
import { slowly } from '../../../cli/faces/slow-answer.ts';

type Call = readonly [name: string, input: Readonly<Record<string, unknown>>];

/** One response: its text, then its calls. */
interface Turn {
  readonly text?: string;
  readonly calls?: readonly Call[];
  /** Sends the text in pieces, one every this many milliseconds. */
  readonly paceMs?: number;
}

const run = (command: string, rest: object = {}): Turn => ({
  calls: [['run_command', { command, ...rest }]],
});
const fix = (name: string): Turn => ({
  text: `\`${name}\` subtracts.`,
  calls: [['edit_file', { path: `src/prices/${name}.js`, old_text: 'sum - one', new_text: 'sum + one' }]],
});
const say = (text: string): Turn => ({ text });
const write = (path: string, content: string): Turn => ({ calls: [['write_file', { path, content }]] });
const todos = (done: number): Turn => ({
  calls: [
    [
      'update_todos',
      {
        todos: ['Find the fault', 'Repair it', 'Run all tests'].map((text, at) => ({
          text,
          status: at < done ? 'done' : at === done ? 'active' : 'open',
        })),
      },
    ],
  ],
});
const explore = (part: string): Call => [
  'agent',
  { agent: 'explore', task: `Look: what does src/${part} do?` },
];

const overview = `The project is a **shop** with ten parts:

| Part | Files | What it does | State |
|---|---|---|---|
| orders | 14 | adds the lines of an order | all tests pass |
| prices | 14 | adds prices, with one ~~right~~ wrong sign in \`prices3\` | one test fails |
| stock | 14 | counts what is left in all of the warehouses of the shop, for each article | all tests pass |

1. Every function has a test.
2. The rules are in [AGENTS.md](AGENTS.md).

\`\`\`js
// Adds all numbers.
export function prices3(list) {
  return list.reduce((sum, one) => sum - one, 0); // wrong
}
\`\`\`
`;

const plan = `## Repair the prices

1. Change the sign in \`src/prices/prices3.js\`.
2. Run the tests of all prices.
3. Write the change into \`CHANGES.md\`.`;

const long = Array.from({ length: 120 }, (_, at) => `word${at}`).join(' ');

/** What the model does for each prompt, by the number with which the prompt starts. */
const script: Readonly<Record<number, readonly Turn[]>> = {
  1: [
    {
      calls: [
        ['list_files', {}],
        ['read_file', { path: 'README.md' }],
      ],
    },
    say(overview),
  ],
  2: [run('node --test test/prices/*.test.js'), say('One test fails: `prices3`.')],
  3: [
    { calls: [['read_file', { path: 'src/prices/prices3.js' }]] },
    { calls: [['present_plan', { plan }]] },
    todos(0),
    say('I will follow the plan.'),
  ],
  4: [todos(1), fix('prices3'), todos(2), say('The sign is right now.')],
  5: [run('node --test test/prices/*.test.js'), todos(3), say('All tests of the prices pass.')],
  6: [write('CHANGES.md', '# Changes\n\n- prices3 adds its list.\n'), say('I wrote `CHANGES.md`.')],
  7: [
    { text: 'Four of them at once.', calls: ['orders', 'stock', 'users', 'mail'].map(explore) },
    say('All four add lists.'),
  ],
  8: [
    run('node server.js', { background: true }),
    { calls: [['background_command', { action: 'read', id: 'bg1', until: 'ready', wait_seconds: 20 }]] },
    say('The server is ready.'),
  ],
  9: [{ calls: [['skill', { name: 'release-notes' }]] }, say('Most important: prices3 adds its list.')],
  10: [say('The picture is gray.')],
  11: [{ text: long, paceMs: 25 }],
  12: [{ calls: [['search_files', { pattern: 'prices3' }]] }, say('It is used in one test.')],
  13: [
    write(
      'src/prices/total.js',
      "import { prices1 } from './prices1.js';\n\nexport const total = (list) => prices1(list);\n",
    ),
    say('I wrote `total`.'),
  ],
  14: [
    {
      calls: [
        ['edit_file', { path: 'src/prices/total.js', old_text: 'total = ', new_text: 'grandTotal = ' }],
      ],
    },
    say('It is `grandTotal` now.'),
  ],
  15: [run('for i in 1 2 3 4 5 6 7 8; do echo step $i; sleep 0.3; done'), say('Eight steps.')],
  16: [
    { calls: [['agent', { agent: 'reviewer', task: 'Look: is the change of prices3 right?' }]] },
    say('The reviewer agrees.'),
  ],
  17: [say('The port was the important thing.')],
  18: [run('git status --short'), say('Three files changed.')],
  19: [{ calls: [['read_file', { path: 'no-such-file.js' }]] }, say('That file does not exist.')],
  20: [run('seq 1 400'), say('Counted to 400.')],
  21: [run('git log --oneline'), say('There is one commit.')],
  22: [{ text: long, paceMs: 25 }, say('I heard you.')],
  23: [{ calls: [['read_file', { path: 'src/dates/dates1.js' }]] }, say('It adds the numbers of a list.')],
  24: [run('touch started; sleep 60'), say('Slept.')],
  25: [say('We are back after the crash.')],
  26: [run('node --test test/dates/*.test.js'), say('All tests of the dates pass.')],
  27: [run('rm -rf docs'), say('I leave the documents alone, then.')],
  28: [run('node --test test/mail/*.test.js'), say('All tests of the mail pass.')],
  29: [write('src/prices/vat.js', 'export const vat = (price) => price * 0.2;\n'), say('I wrote `vat`.')],
  30: [{ text: long, paceMs: 25 }],
};

/** Returns the response to a request: that of the last numbered prompt, by the number of responses since. */
function turnFor({ turns }: ReadRequest): Turn {
  const texts = turns.map(({ side, parts }) =>
    side === 'user' ? parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n') : '',
  );
  const at = texts.findLastIndex((text) => /(^|\n)\d+\. /.test(text));
  if (at < 0) return agentTurn(texts.join('\n'), turns.length);
  const number = Number(/(?:^|\n)(\d+)\. /.exec(texts[at] ?? '')?.[1]);
  const given = turns.slice(at).filter(({ side }) => side === 'assistant').length;
  const of = script[number] ?? [say(`Answer ${number}.`)];
  return of[given] ?? of.at(-1) ?? say('Done.');
}

/** Returns the response of a sub-agent, or a summary. */
function agentTurn(text: string, turns: number): Turn {
  const part = /src\/(\w+)/.exec(text)?.[1];
  if (!text.includes('Look:'))
    return say('Summary: prices3 was repaired, and the server listens on a port of its own.');
  if (turns > 1) return say('It adds the numbers of a list.');
  return {
    calls: [
      ['read_file', { path: part === undefined ? 'src/prices/prices3.js' : `src/${part}/${part}1.js` }],
    ],
  };
}

let ids = 0;

function replyOf({ text = '', calls = [], paceMs }: Turn): MockReply {
  const blocks = calls.map(([name, input]) => callBlock(`toolu_${++ids}`, name, input));
  const answer = scriptResponse([...(text === '' ? [] : [text]), ...blocks], {
    model: 'claude-haiku-4-5',
    usage: { inputTokens: 4000, outputTokens: 120, cacheReadTokens: 3000 },
  });
  return paceMs === undefined ? replies(answer) : slowly(answer, 120, paceMs);
}

const key = 'sk-ant-test-0123456789abcdefghij';

/** Starts the model, and returns the environment in which the CLI uses it. */
export async function dayModel(): Promise<Record<string, string>> {
  const server = wireServer(claudeTesting, (request) => replyOf(turnFor(request)), { secret: key });
  const { url, close } = await serveLoopback(server.handler);
  onTestFinished(() => close());
  return { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url, COBBLER_MODEL: 'claude:claude-haiku-4-5' };
}
