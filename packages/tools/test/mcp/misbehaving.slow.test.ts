import { Executor, textOf } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test, vi } from 'vitest';
import { fakeConfig, isRunning, stage, staged } from './stage.ts';

const pidsIn = (notes: readonly string[]) =>
  notes.flatMap((line) => (line.startsWith('started ') ? [Number(line.slice(8))] : []));

/** The report of a list that was not read completely. */
const tooLong = { name: '…', why: 'the list is too long and was not read completely' };

describe('starting a server', () => {
  test('reports a missing program and offers no tools of it, but those of the other servers', async () => {
    const works = fakeConfig('');
    const missing = { ...works, command: 'no-such-program-of-cobbler' };
    const { mcp, call } = await staged({ missing, works, early: fakeConfig('early') });
    expect(mcp.servers).toMatchObject([
      {
        name: 'missing',
        tools: 0,
        problem: expect.stringMatching(/^The MCP server missing is not ready: .*was not found/),
      },
      { name: 'works', tools: 14 },
      { name: 'early', tools: 0, problem: expect.stringContaining('it exited with code 3') },
    ]);
    expect(mcp.servers[1]).not.toHaveProperty('problem');
    expect(mcp.tools.filter(({ name }) => !name.startsWith('mcp__works__'))).toEqual([]);
    expect((await call('echo', { a: 1 })).text).toBe('{"a":1}');
  });

  test('reports the exit code and the last output of a server that ends', async () => {
    const { mcp } = await stage('early');
    expect(mcp.servers[0]?.problem).toBe(
      'The MCP server fake is not ready: it exited with code 3. Its last output: there is no configuration',
    );
  });

  test('stops a server that does not respond in time, with all its processes [P3]', async () => {
    const { mcp, notes } = await stage('hang,stubborn', { connectTimeout: 600 });
    expect(mcp.servers[0]?.problem).toBe(
      'The MCP server fake is not ready: it did not respond within 0.6 s.',
    );
    expect(pidsIn(notes()).filter(isRunning)).toEqual([]);
  });

  test('reports a variable that is not set and starts no process', async () => {
    const { mcp, notes } = await stage('', { env: { TOKEN: '${NO_SUCH_VARIABLE}' } });
    expect(mcp.servers[0]?.problem).toContain('the variable NO_SUCH_VARIABLE is not set');
    expect(notes()).toEqual(['']);
  });

  test('uses only the first 50 pages of a tool list that never ends, and reports the cut [P29]', async () => {
    const { mcp } = await stage('endless');
    expect(mcp.servers[0]).not.toHaveProperty('problem');
    expect(mcp.servers[0]?.leftOut).toEqual([tooLong]);
    expect(mcp.tools.map(({ name }) => name)).toEqual(
      Array.from({ length: 50 }, (_, page) => `mcp__fake__page${page}`),
    );
  });

  test('reads at most 1,000 tools and 16 MiB of a list, and reports the cut [P29]', async () => {
    const many = await stage('thousands');
    const whys = many.mcp.servers[0]?.leftOut.map(({ why }) => why);
    expect(whys).toEqual([...Array.from({ length: 999 }, () => 'another tool has this name'), tooLong.why]);
    const large = await stage('large-pages');
    expect(large.mcp.servers[0]?.leftOut.at(-1)).toEqual(tooLong);
    expect(large.notes().filter((line) => line === 'listed')).toHaveLength(3);
  });

  test('stops a tool list at a page that names itself as the next one', async () => {
    const { mcp } = await stage('circle');
    expect(mcp.servers[0]).toMatchObject({ tools: 2, leftOut: [] });
  });
});

describe('a running server', () => {
  test('that ends during a call: the call is not repeated, and the next one starts a new server [P9]', async () => {
    const { call, notes } = await stage('');
    const failure = await call('die').catch((error: Error) => error.message);
    expect(failure).toMatch(/^The MCP server fake failed: it exited with code 7\./);
    expect(failure).toContain('It is unknown whether the call took effect.');
    expect((await call('echo', { b: 2 })).text).toBe('{"b":2}');
    expect(notes().filter((line) => line === 'called die')).toHaveLength(1);
    expect(pidsIn(notes())).toHaveLength(2);
  });

  test('that ends is reported with its last output, without keys or terminal control sequences [P19]', async () => {
    const { call } = await stage('');
    const failure = await call('die').catch((error: Error) => error.message);
    expect(failure).toContain('cannot go on: token=[redacted] and [redacted]');
    expect(failure).not.toMatch(/abcdefgh12345678|sk-live/);
    expect(failure).not.toContain('\u001b');
  });

  test('that ends repeatedly is restarted after increasing pauses, which a successful call resets', async () => {
    let now = 0;
    const waits: number[] = [];
    const timer = (ms: number, fire: () => void) => {
      waits.push(ms);
      now += ms;
      fire();
      return () => undefined;
    };
    const runtime = { monotonic: () => now, timer, fetch };
    const { call, notes } = await stage('', {}, { runtime });
    for (let times = 0; times < 5; times += 1) await call('die').catch(() => undefined);
    const sixth = await call('echo').catch((error: Error) => error.message);
    expect(waits).toEqual([500, 1000, 2000]);
    expect(sixth).toContain(
      'has failed 5 times in a row and will not be restarted for 4 s. The call was not made.',
    );
    now += 4000;
    expect((await call('echo')).text).toBe('{}');
    await call('die').catch(() => undefined);
    expect((await call('echo')).text).toBe('{}');
    expect([waits.length, notes().filter((line) => line === 'called echo').length]).toEqual([3, 2]);
  });

  test('that returns 10 MB: the call receives all of it, and a run keeps a limited part', async () => {
    const { call, tool } = await stage('');
    expect((await call('big')).text).toHaveLength(10_000_000);
    const agent = scriptedAgent([{ calls: [{ name: 'mcp__fake__big', arguments: {} }] }, 'done']);
    const { messages } = await new Executor({ agent, tools: [tool('big')] }).run('go');
    const result = messages.find(({ role }) => role === 'tool_result');
    if (result === undefined) throw new Error('there is no result');
    expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(262_144);
  });

  test('that sends an oversized message is stopped: the call fails and the next one succeeds [P10]', async () => {
    const { call } = await stage('');
    const failure = await call('huge').catch((error: Error) => error.message);
    expect(failure).toContain('it sent a message of more than 16 MiB and was stopped');
    expect((await call('echo', { c: 3 })).text).toBe('{"c":3}');
  });

  test('that prints lines other than messages: they are ignored', async () => {
    const { mcp, call } = await stage('garbage');
    expect(mcp.servers[0]).toMatchObject({ identity: 'fake 1', tools: 14 });
    expect((await call('echo', { d: 4 })).text).toBe('{"d":4}');
  });

  test('that rejects a call: its error is the result, and the effect is not in doubt', async () => {
    const { call } = await stage('');
    const failure = await call('refuse').catch((error: Error) => error.message);
    expect(failure).toBe('The MCP server fake failed: it rejected the request (-32602): no refuse here.');
    expect(await call('fail')).toMatchObject({ text: 'It went wrong.', isError: true });
  });
});

describe('a call that takes too long', () => {
  test('is cancelled at the server when it is aborted, and the server keeps running [P3]', async () => {
    const { call, notes } = await stage('');
    const stop = new AbortController();
    const slow = call('slow', {}, { signal: stop.signal });
    await vi.waitUntil(() => notes().includes('called slow'), 60_000);
    stop.abort(new Error('enough'));
    await expect(slow).rejects.toThrow();
    await vi.waitUntil(() => notes().includes('cancelled'), 60_000);
    expect((await call('echo')).text).toBe('{}');
    expect(pidsIn(notes())).toHaveLength(1);
  });

  test('ends at its own time limit in a run, which the result reports', async () => {
    const { tool, notes } = await stage('', { callTimeout: 300 });
    const agent = scriptedAgent([{ calls: [{ name: 'mcp__fake__slow', arguments: {} }] }, 'done']);
    const { messages, status } = await new Executor({ agent, tools: [tool('slow')] }).run('go');
    const result = messages.find(({ role }) => role === 'tool_result');
    expect([status, result && textOf(result)]).toEqual([
      'complete',
      'mcp__fake__slow did not finish within 0.3 s and was stopped.',
    ]);
    await vi.waitUntil(() => notes().includes('cancelled'), 60_000);
  });
});

describe('the process of a server', () => {
  test('ends on close with its child processes, even if they ignore signals [P3]', async () => {
    const { mcp, call, notes } = await stage('stubborn');
    const child = Number((await call('child')).text);
    expect(isRunning(child)).toBe(true);
    await mcp.close();
    expect([...pidsIn(notes()), child].filter(isRunning)).toEqual([]);
    await expect(call('echo')).rejects.toThrow('is closed');
  });

  test('receives only harmless and configured environment variables [P19]', async () => {
    const env = {
      ...process.env,
      ANTHROPIC_API_KEY: 'sk-ant-0123456789',
      GITHUB_TOKEN: 'ghp-value-9',
      OTHER: 'x',
    };
    const { call } = await stage('', { env: { TOKEN: 'Bearer ${GITHUB_TOKEN}' } }, { env });
    const { text } = await call('env');
    expect(JSON.parse(text)).toMatchObject({ TOKEN: 'Bearer ghp-value-9' });
    expect(text).not.toMatch(/ANTHROPIC|GITHUB_TOKEN|OTHER/);
  });
});
