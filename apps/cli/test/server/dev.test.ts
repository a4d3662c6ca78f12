import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dev } from '../../src/commands/dev.ts';
import { newAgent } from '../../src/project/new-agent.ts';
import type { Mind } from '../support/agent-stage.ts';
import { stage } from '../support/agent-stage.ts';
import { bareEnvironment } from '../support/binary.ts';
import { fakeIo } from '../support/fake-io.ts';

const tool = (words: string) =>
  `export default { description: 'Tells.', effect: 'read', execute: () => ${words} };`;

/** Starts `cobbler dev helper` with a watcher that reports changes when the test says so. */
async function started(mind: Mind) {
  const { env, folder, home, seen } = await stage(mind);
  const io = fakeIo({ env: bareEnvironment(env), cwd: folder, input: '', outTty: false, errTty: false });
  newAgent(['agent', 'helper'], {}, io);
  writeFileSync(join(folder, 'helper/tools/tell.ts'), tool("'one'"));
  let changed = async () => {};
  const ending = dev('helper', { port: '0', sandbox: 'off' }, io, (_, onChange) => {
    changed = onChange;
    return () => {};
  });
  onTestFinished(async () => {
    io.interrupt();
    await ending;
  });
  await expect.poll(() => io.stdout.text(), { timeout: 20_000 }).toContain('#token=');
  const [, url = '', token = ''] = /(http\S+)\/#token=(\S+)/.exec(io.stdout.text()) ?? [];
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    return (await fetch(`${url}/v1/${path}`, { method, headers, ...given })).json();
  };
  await ask('POST', 'sessions', { id: 's' });
  const prompt = () => ask('POST', 'sessions/s/prompt', { content: 'Tell.' });
  const ended = () => expect.poll(async () => (await ask('GET', 'sessions/s')).status).toBe('complete');
  const edit = async (text: string) => {
    writeFileSync(join(folder, 'helper/tools/tell.ts'), text);
    await changed();
  };
  return { io, home, seen, prompt, ended, edit };
}

/** Calls the tool once for each prompt. */
const callsOnce: Mind = ({ body }) => {
  const { messages } = body as { messages: { role: string; content: { type: string }[] }[] };
  const isResult = messages.at(-1)?.content.some(({ type }) => type === 'tool_result');
  return isResult === true ? 'Done.' : [['tell', {}]];
};

const patience = { timeout: 30_000 };

test(
  'the next run of a session uses a changed tool; a broken file is one error and changes nothing',
  patience,
  async () => {
    const { io, seen, prompt, ended, edit } = await started(callsOnce);
    await prompt();
    await ended();
    await edit(tool("'two'"));
    await prompt();
    await ended();
    await edit('\nexport default {,');
    await prompt();
    await ended();
    expect(seen.at(-1)?.results).toEqual(['one', 'two', 'two']);
    const lines = io.stderr.text().split('\n');
    expect(lines.filter((line) => line.startsWith('cobbler: '))).toEqual([
      'cobbler: The next run uses the changed agent. Tools: count_words, tell',
      expect.stringMatching(/helper\/tools\/tell\.ts:2: .* The last version that worked stays in use\.$/),
    ]);
  },
);

test('a run in progress keeps its tools, and the sessions are in a file of the agent', patience, async () => {
  const gate = Promise.withResolvers<void>();
  const { home, seen, prompt, ended, edit } = await started(async (one) => {
    if (one.results.length === 0) await gate.promise;
    return callsOnce(one);
  });
  await prompt();
  await expect.poll(() => seen.length).toBe(1);
  await edit(tool("'two'"));
  gate.resolve();
  await ended();
  await prompt();
  await ended();
  expect(seen.at(-1)?.results).toEqual(['one', 'two']);
  expect([existsSync(join(home, 'server.db')), existsSync(join(home, 'server.json'))]).toEqual([
    false,
    false,
  ]);
});
