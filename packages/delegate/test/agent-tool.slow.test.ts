import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolContext } from '@cobbler/agent';
import { Budget, Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { claudeCode, codex } from '@cobbler/delegate';
import type { AgentTool, AgentToolOptions, SessionReport } from '@cobbler/delegate/agent-tool';
import { createAgentTool } from '@cobbler/delegate/agent-tool';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { defaultTimeoutMs } from '../src/cli/program-options.ts';
import type { FakePrograms } from './fake-programs.ts';
import { running } from './fake-programs.ts';
import { fakePrograms } from './rig.ts';

const keys = ['session_id', 'backend', 'cli_session_id', 'status', 'result'];

interface Rig extends FakePrograms {
  readonly tool: AgentTool;
  readonly call: (args: object, budget?: Budget) => Promise<SessionReport>;
  /** Returns the text for the model, and true if the call failed. */
  readonly said: (args: object, budget?: Budget) => Promise<{ text: string; isError: boolean }>;
}

function rig(rest: Partial<AgentToolOptions> = {}, programs: FakePrograms = fakePrograms()): Rig {
  const { options, workspace, area } = programs;
  const tool = createAgentTool({
    workspace,
    backends: [claudeCode(options), codex(options)],
    sessionsFile: join(area, 'sessions.json'),
    ...rest,
  });
  onTestFinished(() => tool.close());
  const said = async (args: object, budget: Budget = new Budget()) => {
    const { signal } = new AbortController();
    const context: ToolContext = { signal, callId: 'c', idempotencyKey: 'k', progress: () => {}, budget };
    try {
      const output = (await tool.execute({ ...args }, context)) as { content: string; isError?: boolean };
      return { text: output.content, isError: output.isError === true };
    } catch (thrown) {
      return { text: (thrown as Error).message, isError: true };
    }
  };
  const call = async (args: object, budget?: Budget) =>
    JSON.parse((await said(args, budget)).text) as SessionReport;
  return { ...programs, tool, call, said };
}

const create = (prompt: string, rest: object = {}) => ({
  action: 'create',
  backend: 'claude-code',
  prompt,
  ...rest,
});

describe('the agent tool', () => {
  it('creates a session, waits for its job and returns the specified keys [S2.1, S2.2, S2.3]', async () => {
    const { tool, call } = rig();
    expect(tool.name).toBe('agent');
    const report = await call(create('say Hello.'));
    expect(Object.keys(report)).toEqual(keys);
    expect(report).toMatchObject({
      session_id: 'as-1',
      backend: 'claude-code',
      status: 'completed',
      result: 'Hello.',
    });
    expect(report.cli_session_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('passes directory, instructions and turn limit to the program [S2.2]', async () => {
    const programs = fakePrograms();
    mkdirSync(join(programs.workspace, 'inside'));
    const { call } = rig({}, programs);
    const given = { working_dir: 'inside', system_prompt: 'Be brief.', max_turns: 7 };
    const argv = (JSON.parse((await call(create('argv', given))).result) as string[]).join(' ');
    expect(argv).toContain('--append-system-prompt Be brief.');
    expect(argv).toContain('--max-turns 7');
    expect((await call(create('cwd', given))).result).toBe(join(programs.workspace, 'inside'));
  });

  it.each(['claude-code', 'codex'])(
    'continues a session of %s, which remembers its conversation [S2.5]',
    async (backend) => {
      const { call } = rig();
      await call(create('say One.', { backend }));
      const report = await call({ action: 'send', session_id: 'as-1', prompt: 'count' });
      expect(report).toMatchObject({ status: 'completed', result: '2' });
    },
  );

  it('runs a job in the background and reports its progress and its result [S2.4, S2.6, S2.18]', async () => {
    const { call, said } = rig();
    const begun = await call(create('listen', { async: true }));
    expect(begun).toMatchObject({ session_id: 'as-1', status: 'running' });
    const status = () => call({ action: 'status', session_id: 'as-1' });
    await vi.waitFor(async () => expect((await status()).result).toContain('Working.'), { timeout: 60_000 });
    expect((await said({ action: 'send', session_id: 'as-1', prompt: 'count' })).text).toBe(
      'session as-1 is still running',
    );
    const destroyed = await call({ action: 'destroy', session_id: 'as-1' });
    expect(destroyed).toMatchObject({ session_id: 'as-1', status: 'destroyed' });
    await call(create('say Done.', { async: true }));
    await vi.waitFor(
      async () =>
        expect(await call({ action: 'status', session_id: 'as-2' })).toMatchObject({
          status: 'completed',
          result: 'Done.',
        }),
      { timeout: 60_000 },
    );
  });

  it('reports a crashed background job as failed, with its output [S2.18]', async () => {
    const { call } = rig();
    await call(create('fault exit-3', { async: true }));
    await vi.waitFor(
      async () => {
        const report = await call({ action: 'status', session_id: 'as-1' });
        expect(report.status).toBe('failed');
        expect(report.result).toContain('It broke in the middle.');
      },
      { timeout: 60_000 },
    );
  });

  it('lists existing sessions, removes destroyed ones, and never reuses an id [S2.7, S2.8, S2.14]', async () => {
    const { call, said } = rig();
    await call(create('say One.'));
    await call(create('say Two.', { backend: 'codex' }));
    await call({ action: 'destroy', session_id: 'as-1' });
    await call(create('say Three.'));
    const list = JSON.parse((await said({ action: 'list' })).text) as SessionReport[];
    expect(list.map(({ session_id }) => session_id)).toEqual(['as-2', 'as-3']);
    expect(Object.keys(list[0] ?? {})).toEqual(keys);
  });

  it('assigns different ids to sessions that are created in parallel [S2.14]', async () => {
    const { call } = rig();
    const reports = await Promise.all(['One.', 'Two.', 'Three.'].map((word) => call(create(`say ${word}`))));
    expect(reports.map(({ session_id }) => session_id).sort()).toEqual(['as-1', 'as-2', 'as-3']);
    expect(reports.map(({ result }) => result)).toEqual(['One.', 'Two.', 'Three.']);
  });

  it('rejects a ninth session with the specified message, even if others are finished [S2.15]', async () => {
    const { said } = rig();
    for (let count = 0; count < 8; count += 1) expect((await said(create('say Hi.'))).isError).toBe(false);
    expect(await said(create('say Hi.'))).toEqual({
      text: 'max sessions (8) reached, destroy one first',
      isError: true,
    });
    await said({ action: 'destroy', session_id: 'as-3' });
    expect((await said(create('say Hi.'))).isError).toBe(false);
  });

  it.each(['send', 'status', 'destroy'])(
    'rejects %s for an unknown session with the specified message [S2.21]',
    async (action) => {
      const { said } = rig();
      expect((await said({ action, session_id: 'as-7', prompt: 'x' })).text).toBe('session as-7 not found');
    },
  );

  it.each(['claude', 'codex'])(
    'reports that %s is not installed, and keeps no session [S2.10, S2.11]',
    async (program) => {
      const { workspace } = fakePrograms();
      const { said } = rig({
        workspace,
        backends: [claudeCode({ env: { PATH: '' } }), codex({ env: { PATH: '' } })],
      });
      const backend = program === 'claude' ? 'claude-code' : 'codex';
      expect(await said(create('say no', { backend }))).toEqual({
        text: `${program} CLI not found in PATH`,
        isError: true,
      });
      expect((await said({ action: 'list' })).text).toBe('[]');
    },
  );

  it('returns a failed job as an error with the specified keys [S2.19]', async () => {
    const { said } = rig();
    const { text, isError } = await said(create('fault exit-3'));
    expect(isError).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ session_id: 'as-1', status: 'failed' });
    expect(text).toContain('It broke in the middle.');
  });

  it('ends a job at its time limit [S2.17, P2]', async () => {
    const programs = fakePrograms();
    const { call } = rig({ backends: [claudeCode({ ...programs.options, timeoutMs: 500 })] }, programs);
    expect(await call(create('hang'))).toMatchObject({ status: 'timeout' });
    expect(defaultTimeoutMs).toBe(600_000);
  });

  it('rejects an action with a missing argument or an unknown backend', async () => {
    const { said } = rig();
    expect((await said({ action: 'create', backend: 'claude-code' })).text).toBe('create requires prompt.');
    expect((await said({ action: 'send', session_id: 'as-1' })).text).toBe('send requires prompt.');
    expect((await said({ action: 'create', prompt: 'x', backend: 'cursor' })).text).toContain(
      'Available: claude-code, codex',
    );
  });
});

describe('the working directory of a session [S2.22, P21]', () => {
  it('cannot be outside the workspace', async () => {
    const programs = fakePrograms();
    mkdirSync(join(programs.workspace, 'inside'));
    symlinkSync('/', join(programs.workspace, 'root'));
    const { call, said } = rig({}, programs);
    expect(await call(create('cwd', { working_dir: 'inside' }))).toMatchObject({
      result: join(programs.workspace, 'inside'),
    });
    for (const working_dir of ['..', '/', '/etc', 'root/etc', '../workspace/../..', 'inside/../../..']) {
      const { isError, text } = await said(create('cwd', { working_dir }));
      expect([isError, working_dir, text.includes('outside')]).toEqual([true, working_dir, true]);
    }
  });
});

describe('sessions after a restart [S2.23]', () => {
  it('continue with their stored ids, and no id is reused', async () => {
    const programs = fakePrograms();
    const before = rig({}, programs);
    await before.call(create('say One.'));
    await before.tool.close();
    const after = rig({}, programs);
    expect(await after.call({ action: 'send', session_id: 'as-1', prompt: 'count' })).toMatchObject({
      result: '2',
    });
    expect((await after.call(create('say Two.'))).session_id).toBe('as-2');
  });

  it('are stored as soon as the program reports its session id', async () => {
    const programs = fakePrograms();
    const { call } = rig({}, programs);
    await call(create('hang', { async: true }));
    await vi.waitFor(
      () => expect(readFileSync(join(programs.area, 'sessions.json'), 'utf8')).toContain('"cliSessionId"'),
      { timeout: 60_000 },
    );
    expect((await call({ action: 'status', session_id: 'as-1' })).status).toBe('running');
  });

  it('have failed if Cobbler was killed during their job, and can be continued', async () => {
    const programs = fakePrograms();
    const before = rig({}, programs);
    const { cli_session_id } = await before.call(create('say One.'));
    const file = join(programs.area, 'sessions.json');
    const book = JSON.parse(readFileSync(file, 'utf8')) as { sessions: object[] };
    writeFileSync(
      file,
      JSON.stringify({ ...book, sessions: [{ ...book.sessions[0], state: 'running', owner: 2 ** 22 + 1 }] }),
    );
    const after = rig({}, programs);
    expect(await after.call({ action: 'status', session_id: 'as-1' })).toMatchObject({
      status: 'failed',
      result: 'Cobbler exited during this task.',
      cli_session_id,
    });
    expect(await after.call({ action: 'send', session_id: 'as-1', prompt: 'count' })).toMatchObject({
      result: '2',
    });
  });

  it('start a new conversation and report it if the program has lost the old one [S1.10]', async () => {
    const programs = fakePrograms();
    const { call } = rig({}, programs);
    const { cli_session_id } = await call(create('say One.'));
    writeFileSync(join(programs.home, 'unrelated'), '');
    const { rmSync } = await import('node:fs');
    rmSync(join(programs.home, `${cli_session_id}.json`));
    const report = await call({ action: 'send', session_id: 'as-1', prompt: 'count' });
    expect(report.result).toMatch(/^\[The earlier conversation was lost.*\]\n1$/);
    expect(report.cli_session_id).not.toBe(cli_session_id);
  });
});

describe('the permission of the programs [P20]', () => {
  it('is read-only by default, and no argument of a call changes it', async () => {
    const programs = fakePrograms();
    const { env, workspace, home } = programs;
    const made = createAgentTool({ workspace, env: { ...env, FAKE_HOME: home }, sessionsFile: null });
    expect(made.description).toContain('The agents can read files but cannot change anything.');
    expect(Object.keys((made.parameters['properties'] ?? {}) as object)).toEqual([
      ...['action', 'async', 'backend', 'max_turns', 'prompt', 'session_id', 'system_prompt', 'working_dir'],
    ]);
    expect(made.parameters['additionalProperties']).toBe(false);
    const { call } = rig({ backends: [claudeCode(programs.options)] }, programs);
    const { result } = await call(create('argv', { permission: 'bypass' }));
    expect(result).toContain('dontAsk');
  });

  it('calls the gate for each call if it is "gate", and lists denials in the result', async () => {
    const programs = fakePrograms();
    const asked: string[] = [];
    const { call } = rig(
      {
        backends: [claudeCode({ ...programs.options, permission: 'gate' })],
        permission: 'gate',
        gate: ({ toolName }) => {
          asked.push(toolName);
          return toolName === 'look' ? { type: 'allow' } : { type: 'ask' };
        },
      },
      programs,
    );
    const report = await call(create('use look write'));
    expect(asked).toEqual(['look', 'write']);
    expect(report.status).toBe('completed');
    expect(report.result).toMatch(/^\[Denied and not executed: write\]\n/);
    expect(() => createAgentTool({ workspace: programs.workspace, permission: 'gate' })).toThrow(
      /requires the option `gate`/,
    );
  });
});

describe('the usage of a delegated job [P14]', () => {
  it('counts once towards the budget of the calling run', async () => {
    const { call } = rig();
    const budget = new Budget({ usd: 1, tokens: 10_000 });
    await call(create('use look'), budget);
    expect([budget.tokens, budget.usd]).toEqual([300, 0.002]);
    await call({ action: 'send', session_id: 'as-1', prompt: 'say More.' }, budget);
    expect(budget.tokens).toBe(450);
    expect(budget.usd).toBeCloseTo(0.003);
  });

  it('is limited by the program, which receives the remaining turns and money', async () => {
    const { call } = rig();
    const { result } = await call(create('argv', { max_turns: 9 }), new Budget({ usd: 0.25, turns: 4 }));
    expect(result).toContain('"--max-turns","4","--max-budget-usd","0.25"');
  });

  it('includes failed attempts', async () => {
    const { call } = rig();
    const budget = new Budget({ usd: 1, tokens: 10_000 });
    await call(create('fault spends-always'), budget);
    expect([budget.tokens, budget.usd]).toEqual([2000, 0.6]);
  });

  it('is limited in total over all jobs of its session, in another process too', async () => {
    const [rest, programs] = [{ sessionLimits: { usd: 0.0025 } }, fakePrograms()];
    const send = (prompt: string) => ({ action: 'send', session_id: 'as-1', prompt });
    // This job costs $0.002.
    expect((await rig(rest, programs).call(create('use look'))).status).toBe('completed');
    const { result } = await rig(rest, programs).call(send('argv'));
    expect(Number(/"--max-budget-usd","([\d.e-]+)"/.exec(result)?.[1])).toBeCloseTo(0.0005, 9);
    expect((await rig(rest, programs).said(send('More.'))).text).toContain('leave no room for this task');
  });

  it('counts with its whole limit after a crash', async () => {
    const first = rig({ sessionLimits: { tokens: 1000 } });
    await first.call(create('use look'));
    await first.call({ ...create('hang'), async: true });
    const { sessions } = JSON.parse(readFileSync(join(first.area, 'sessions.json'), 'utf8'));
    expect(sessions).toMatchObject([
      { spent: { tokens: 300 } },
      { state: 'running', spent: { tokens: 1000 } },
    ]);
    await first.call({ action: 'destroy', session_id: 'as-2' });
  });

  it('must have a known cost under a money limit', async () => {
    const { said } = rig();
    const refused = await said(create('say Hi.', { backend: 'codex' }), new Budget({ usd: 1 }));
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining('does not report its cost'),
    });
    expect((await said({ action: 'list' })).text).toBe('[]');
  });

  it('is added to the usage of the run itself', async () => {
    const { tool } = rig();
    const agent = scriptedAgent([
      { calls: [{ name: 'agent', arguments: create('use look') }] },
      ({ messages }) => `It said ${JSON.stringify(messages.at(-1)).includes('seen') ? 'seen' : 'nothing'}.`,
    ]);
    const budget = new Budget();
    const result = await new Executor({ agent, tools: [tool] }).run('Delegate it.', { budget });
    expect(result.text).toBe('It said seen.');
    const { totalInputTokens, totalOutputTokens } = result.metrics;
    expect(totalInputTokens + totalOutputTokens).toBe(budget.tokens);
  });
});

describe('the agent tool [P3]', () => {
  it('ends its jobs and their processes when the run is cancelled', async () => {
    const { tool, home } = rig();
    const agent = scriptedAgent([{ calls: [{ name: 'agent', arguments: create('hang') }] }]);
    const run = new Executor({ agent, tools: [tool] }).run('Delegate it.');
    await vi.waitUntil(() => running(home).length > 0, 60_000);
    run.cancel();
    expect((await run).status).toBe('cancelled');
    // The run does not wait longer than 100 ms for a tool. Promise 3 gives the processes five seconds.
    await vi.waitUntil(() => running(home).length === 0, 5_000);
  });
});
