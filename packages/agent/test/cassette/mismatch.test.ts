import { describe, expect, test } from 'vitest';
import { player } from '../../src/cassette/index.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import type { MockReply } from '../../src/testing/index.ts';
import { callBlock, failsWith, replies, scriptResponse } from '../../src/testing/index.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { Scene } from './rig.ts';
import { record, replay, turn } from './rig.ts';

const look: Tool = {
  name: 'look',
  description: 'Looks at a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
  effect: 'read',
  execute: async ({ path }) => {
    await turn();
    return `the text of ${String(path)}`;
  },
};

function says(text: string, ...paths: readonly string[]): MockReply {
  return replies(
    scriptResponse([text, ...paths.map((path, index) => callBlock(`c${index}`, 'look', { path }))]),
  );
}

const scene: Scene = {
  script: [
    failsWith({ kind: 'busy', message: 'Overloaded' }),
    says('First.', 'a.txt', 'b.txt'),
    says('Then.', 'c.txt'),
    says('Done.'),
  ],
  tools: () => [look],
  prompt: 'What do the files say?',
};

/** Returns the error that a replay fails with after a change to the scene or the cassette. */
async function missOf(changed: Partial<Scene>, edit: (cassette: string) => string = (text) => text) {
  const { cassette } = await record(scene);
  const { result, tape } = await replay({ ...scene, ...changed }, edit(cassette), { patienceMs: 30 });
  expect(result.status).toBe('failed');
  expect(result.error).toMatchObject({ kind: 'agent', code: 'replay_miss' });
  expect(result.error?.message).toBe(tape.miss?.message);
  expect(() => tape.check()).toThrow(tape.miss?.message);
  return { message: result.error?.message ?? '', result };
}

describe('a mismatch is reported', () => {
  test('for a different prompt: the request, the path, the recorded value and the current value', async () => {
    const { message } = await missOf({ prompt: 'What do the fires say?' });
    expect(message).toBe(
      [
        'request 1 in the replay differs from request 1 in the cassette.',
        'The first difference is at turns[0].parts[0].text:',
        '  recorded  "What do the files say?"',
        '  now       "What do the fires say?"',
      ].join('\n'),
    );
  });

  test('with only the part around the first difference of a long text', async () => {
    const long = `${'x'.repeat(5000)} the end`;
    const { cassette } = await record({ ...scene, prompt: `${long} is near` });
    const { result } = await replay({ ...scene, prompt: `${long} is far` }, cassette);
    expect(result.error?.message).toContain('recorded  …"xxxxxxxx the end is near"');
    expect(result.error?.message).toContain('now       …"xxxxxxxx the end is far"');
  });

  test('for a changed system text and tool, with the first difference and the other fields', async () => {
    const { message } = await missOf({
      options: { system: 'Be brief.' },
      tools: () => [{ ...look, description: 'Looks.' }],
    });
    expect(message).toContain('at system[0]:\n  recorded  nothing\n  now       "Be brief."');
    expect(message).toContain('Also different: tools.');
  });

  test('when the cassette continues with another input than the response the run waits for', async () => {
    const { message } = await missOf({}, (text) =>
      text
        .split('\n')
        .filter((line) => !line.includes('"in":"request 3"'))
        .join('\n'),
    );
    expect(message).toMatch(/^The cassette continues with tool 3, but the run is waiting for request 3\.$/);
  });

  test('for a request that is not in the cassette', async () => {
    const { message } = await missOf({}, (text) =>
      text
        .split('\n')
        .filter((line) => !line.includes('"out":"request 4"') && !line.includes('"in":"request 4"'))
        .join('\n'),
    );
    expect(message).toMatch(/^The cassette contains no recording of request 4:\n {2}turns: /);
    expect(message).toContain('the text of c.txt');
  });

  test('for a tool called with other arguments, and the model receives no more requests', async () => {
    const { message, result } = await missOf({}, (text) =>
      text.replace('"arguments":{"path":"c.txt"}', '"arguments":{"path":"d.txt"}'),
    );
    expect(message).toContain('tool 3 in the replay differs from tool 3 in the cassette.');
    expect(message).toContain('at arguments.path:\n  recorded  "d.txt"\n  now       "c.txt"');
    expect(result.metrics.invocations).toBe(2);
  });

  test('by check, for a run that ends before the recording does', async () => {
    const { cassette } = await record(scene);
    const { result, tape } = await replay({ ...scene, options: { limits: { turns: 1 } } }, cassette);
    expect(result.status).toBe('limit');
    expect(tape.miss).toBeUndefined();
    expect(() => tape.check()).toThrow('The replay has ended, but the cassette continues with request 3.');
  });

  test('for a program that cancels where the recording did not', async () => {
    const { cassette } = await record(scene);
    const reacts: Scene['reacts'] = (event, control) => {
      if (event.type === 'tool_started') control.cancel();
    };
    const { result, tape } = await replay({ ...scene, reacts }, cassette);
    expect(result.status).toBe('cancelled');
    expect(tape.miss?.message).toMatch(
      /^The program performed an action on run .* that was not recorded: \{"cancel":true\}$/,
    );
  });

  test('wherever a cassette is cut off, and only the complete one gives the recorded log [P1, P2]', async () => {
    const gated: Scene = { ...scene, options: { gate: async () => ({ type: 'allow' }) } };
    const { cassette, log } = await record(gated);
    const lines = cassette.split('\n');
    for (let count = 1; count < lines.length; count += 1) {
      const part = `${lines.slice(0, count).join('\n')}\n`;
      const { result, tape, log: again } = await replay(gated, part, { patienceMs: 5 });
      const where = `the first ${count} lines of ${lines.length - 1}`;
      const isWhole = count === lines.length - 1;
      expect(tape.miss?.code, where).toBe(isWhole ? undefined : 'replay_miss');
      // A response is complete when the model says so: the end of the body after it changes nothing.
      const isOver = lines.slice(count).every((line) => line === '' || line.includes('"end":true'));
      expect(result.status, where).toBe(isOver ? 'complete' : 'failed');
      expect(again === log, where).toBe(isWhole);
      expect(tape.runtime.monotonic(), where).toBeLessThan(3_600_000);
    }
  });
});

describe('an invalid cassette', () => {
  const head = '{"cassette":1,"recorded":"2026-01-01T00:00:00.000Z","startedAt":1767225600000}';
  test.each([
    ['', 'the file is empty'],
    ['{"type":"user"}\n', 'line 1: a cassette must start with a line such as {"cassette":1,…}'],
    [
      '{"cassette":2}\n',
      'line 1: its version is 2, but only version 1 is supported; record the cassette again',
    ],
    ['{"cassette":1}\n', 'line 1: "startedAt" is missing'],
    [`${head}\nnonsense\n${head}\n`, 'line 2: it is not a JSON object'],
    [`${head}\n{"out":"request 1"}\n`, 'line 2: its "what" is not an object'],
    [
      `${head}\n{"out":"request 2","since":"request 1","same":[],"first":{},"what":{}}\n`,
      'line 2: it refers to request 1, but no earlier line has that name',
    ],
    [`${head}\n{"in":"request 1","end":true}\n`, 'line 2: "at" is missing'],
  ])('%j', (text, why) => {
    let error: unknown;
    try {
      player(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(AgentError.is(error)).toBe(true);
    expect(error).toMatchObject({
      kind: 'invalid',
      code: 'cassette',
      message: `The cassette cannot be used: ${why}.`,
    });
  });

  test('lines of a later version and an incomplete last line are ignored', async () => {
    const { cassette, log } = await record(scene);
    const [first = '', ...rest] = cassette.split('\n');
    const strange = [first, '{"mood":"good"}', ...rest].join('\n').concat('{"at":9');
    expect((await replay(scene, strange)).log).toBe(log);
  });
});
