import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { argumentsOf, textOf } from '../src/answer.ts';
import type { ContestantName } from '../src/contestant.ts';
import type { Done } from '../src/job.ts';
import { perform } from '../src/job.ts';
import type { ModelServer, Received } from '../src/model-server.ts';
import { startModelServer } from '../src/model-server.ts';
import { runJob, startServer } from '../src/processes.ts';
import type { Script } from '../src/work.ts';
import { works } from '../src/work.ts';

const small: Script = { turns: 4, deltas: 5, argumentBytes: 200, fragmentBytes: 20 };
const runs = 3;
const contestants: ContestantName[] = ['floor', 'anthropic-sdk', 'ai-sdk', 'cobbler'];

let server: ModelServer;
const results = new Map<ContestantName, { done: Done; received: Received }>();

beforeAll(async () => {
  server = await startModelServer({ small });
  for (const contestant of contestants) {
    const job = { contestant, url: server.url('small', contestant), turns: small.turns, runs, warm: true };
    const done = await perform(job);
    results.set(contestant, { done, received: server.received(contestant) });
  }
});

afterAll(() => server.close());

describe.each(contestants)('%s performs the measured work', (name) => {
  test('completes every turn and runs a call in every turn but the last', () => {
    const { turns, toolCalls } = doneBy(name);
    expect({ turns, toolCalls }).toEqual({ turns: runs * small.turns, toolCalls: runs * (small.turns - 1) });
  });

  test('returns the whole last text, and a subscriber receives every text completely', () => {
    const text = textOf(small);
    expect(doneBy(name).text).toBe(text);
    expect(doneBy(name).shown).toBe(runs * small.turns * text.length);
  });

  test('sends the whole history with each request, and the warm-up is not counted', () => {
    const { requests, bytesByTurn } = receivedOf(name);
    expect(requests).toBe(runs * small.turns);
    expect(bytesByTurn).toHaveLength(small.turns);
    const added = textOf(small).length + argumentsOf(small).length;
    for (let turn = 1; turn < small.turns; turn += 1) {
      const grown = ((bytesByTurn[turn] ?? 0) - (bytesByTurn[turn - 1] ?? 0)) / runs;
      expect(grown).toBeGreaterThan(added);
      expect(grown).toBeLessThan(3 * added + 500);
    }
  });
});

test('the model server counts the bytes that it receives', async () => {
  const messages = [{ role: 'user', content: 'Grüezi' }];
  const body = JSON.stringify({ messages });
  for (let time = 1; time <= 2; time += 1) {
    await (await fetch(`${server.url('small', 'count')}/v1/messages`, { method: 'POST', body })).text();
  }
  const bytes = 2 * (body.length + 1);
  expect(server.received('count')).toMatchObject({ requests: 2, bytes, bytesByTurn: [bytes] });
});

test('a separate process reports the same outcome and its cost', async () => {
  const programs = {
    child: sourceOf('child'),
    serve: sourceOf('serve'),
    flags: ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'],
  };
  const [t50] = works;
  if (t50 === undefined) throw new Error('There is no work.');
  const process = await startServer(programs);
  try {
    const { turns } = t50.script;
    const job = { contestant: 'floor', url: process.url('t50', 'one'), turns, runs: 1, warm: true } as const;
    const done = await runJob({ programs, job });
    expect(done.turns).toBe(turns);
    expect(done.cpuMs).toBeGreaterThan(0);
    expect(done.wallMs).toBeGreaterThan(0);
    expect(done.peakBytes).toBeGreaterThan(10_000_000);
    expect((await process.received('one')).requests).toBe(turns);
  } finally {
    process.stop();
  }
});

function doneBy(name: ContestantName): Done {
  return resultOf(name).done;
}

function receivedOf(name: ContestantName): Received {
  return resultOf(name).received;
}

function resultOf(name: ContestantName): { done: Done; received: Received } {
  const result = results.get(name);
  if (result === undefined) throw new Error(`${name} did not run.`);
  return result;
}

function sourceOf(program: string): string {
  return fileURLToPath(new URL(`../src/${program}.ts`, import.meta.url));
}
