// Kills runs before and after every write to their store, lets another process continue them, and checks that nothing
// committed is lost and no tool runs twice that must not. Then the same for a workflow on the SQLite runner, of which
// no recorded step may run again. With the word assistant, kills the assistant of this machine instead, around its
// writes and during its calls of Telegram, and checks that every reply arrives, with a note if it may be a duplicate:
//
//   npm run verify -- crash                             20 random runs, each killed at all of its points
//   npm run verify -- crash --runs 100 --from 21     other runs
//   npm run verify -- crash --again 5                also kills the second process, at every fifth of its points
//   npm run verify -- crash assistant                kills the assistant at each of its points; --again as above
import { parseArgs } from 'node:util';
import { drillAssistantCrashes } from '../../../apps/cli/test/assistant/assistant-crash-drill.ts';
import { drillCrashes } from '../../../packages/conformance/test/crash-drill.ts';
import { drillRunnerCrashes } from '../../../packages/conformance/test/runner-crash-drill.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '20' },
    from: { type: 'string', default: '1' },
    again: { type: 'string' },
  },
});

const from = whole('from', values.from);
const runs = whole('runs', values.runs);
const again = values.again === undefined ? undefined : Math.max(1, whole('again', values.again));
if (positionals.includes('assistant')) {
  await crashAssistant();
  process.exit();
}
let points = 0;
let kills = 0;
let unknown = 0;
for (let seed = from; seed < from + runs; seed += 1) {
  const figures = await drillCrashes(again === undefined ? { seed } : { seed, again });
  points += figures.points;
  kills += figures.kills;
  unknown += figures.unknown;
  process.stderr.write(`run ${seed}: ${figures.points} points, ${figures.kills} processes killed\n`);
}
process.stdout.write(
  `${runs} runs with ${points} points: ${kills} processes killed, nothing lost, no tool ran twice; ` +
    `${unknown} calls have an unknown outcome, which the model sees.\n`,
);

const steps = await drillRunnerCrashes({ again: again ?? 5 });
process.stdout.write(
  `A workflow with ${steps.points} points: ${steps.kills} processes killed, every run ended; ` +
    `${steps.repeated} steps ran again with their keys, but no recorded step.\n`,
);

async function crashAssistant(): Promise<void> {
  const found = await drillAssistantCrashes(again === undefined ? {} : { again });
  process.stdout.write(
    `A conversation with ${found.moments} moments and ${found.calls} calls of Telegram, ${found.conversations} times: ` +
      `${found.kills} processes killed, every reply arrived, with a note if it may be a duplicate (${found.repeatedReplies} replies and ` +
      `${found.repeatedQuestions} questions), each message stored once, the tool ran once in ${found.toolRuns} ` +
      'and never twice.\n',
  );
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}. Use a whole number, such as --${name} 20.`);
}
