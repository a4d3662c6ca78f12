import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as sdk from '@anthropic-ai/claude-agent-sdk';
import type { ToolContext } from '@cobbler/agent';
import { Budget } from '@cobbler/agent';
import { reapOrphans } from '@cobbler/agent/node';
import type { AgentSession } from '@cobbler/delegate';
import { buildEngine, claudeCode, codex, delegatedHarness } from '@cobbler/delegate';
import type { AgentTool, SessionReport } from '@cobbler/delegate/agent-tool';
import { createAgentTool } from '@cobbler/delegate/agent-tool';
import { ClaudeCodeAgent } from '@cobbler/delegate/claude-code-agent';
import type { Case } from './cli-cases.ts';
import type { Rig } from './rig.ts';
import { expect, expectEqual, left, until } from './rig.ts';

function agentOf({ claude, programs }: Rig): ClaudeCodeAgent {
  const { env, extraEnv } = claude;
  return new ClaudeCodeAgent({
    sdk,
    path: programs.claude,
    retryMs: 100,
    ...(env && { env }),
    ...(extraEnv && { extraEnv }),
  });
}

function sessionIn({ workspace }: Rig, rest: Partial<AgentSession> = {}): AgentSession {
  return { sessionId: 's', workingDirectory: workspace, ...rest };
}

/** Claude Code over the Agent SDK. */
export const sdkCases: readonly Case[] = [
  {
    name: 'agent SDK: continues a conversation and reports the cost of each prompt [S1.6, S1.16]',
    run: async (rig) => {
      const agent = agentOf(rig);
      const session = sessionIn(rig);
      const first = await agent.execute('scene:say', session);
      const second = await agent.execute('scene:count', session);
      expectEqual(
        [first.content, second.content, second.isError],
        ['Hello from the mock.', 'Heard 2.', false],
        'the responses',
      );
      expectEqual(second.cost.toFixed(6), first.cost.toFixed(6), 'the cost');
      await agent.shutdown();
    },
  },
  {
    name: 'agent SDK: canUseTool sees a read [S1.1, P21]',
    run: async (rig) => {
      const file = join(rig.workspace, 'secret.txt');
      writeFileSync(file, 'treasure');
      const agent = agentOf(rig);
      const asked: string[] = [];
      const ask = (allow: boolean) =>
        agent.execute(`scene:read ${file}`, sessionIn(rig), {
          canUseTool: (toolName) => {
            asked.push(toolName);
            return allow ? { type: 'allow' } : { type: 'deny', message: 'Not this one.' };
          },
        });
      expectEqual((await ask(false)).content, 'It gave nothing.', 'the output after a denied read');
      expectEqual((await ask(true)).content, 'It gave it.', 'the output after an allowed read');
      expectEqual(asked, ['Read', 'Read'], 'the approval requests');
      await agent.shutdown();
    },
  },
  {
    name: 'agent SDK: plan mode blocks writes that the gate allows [S1.8]',
    run: async (rig) => {
      const agent = agentOf(rig);
      const response = await agent.execute(`scene:plan ${rig.workspace}`, sessionIn(rig, { mode: 'plan' }), {
        canUseTool: () => ({ type: 'allow' }),
      });
      expectEqual([response.content, response.isError], ['The plan is ready.', false], 'the end');
      expectEqual(readdirSync(rig.workspace), [], 'the files in the workspace');
      await agent.shutdown();
    },
  },
  {
    name: 'agent SDK: replaces a stale session with a new one [S1.10]',
    run: async (rig) => {
      const agent = agentOf(rig);
      const session = sessionIn(rig, { claudeSessionId: '0f9b1c6e-1a2b-4c3d-8e4f-000000000000' });
      const response = await agent.execute('scene:count', session);
      expectEqual([response.content, response.isError], ['Heard 1.', false], 'the end');
      expect(session.claudeSessionId === response.sessionId, 'the new id in the session');
      await agent.shutdown();
    },
  },
  {
    name: 'agent SDK: retries a 529 once, then returns a friendly error [S1.12, S1.14]',
    run: async (rig) => {
      const agent = agentOf(rig);
      const { content, isError } = await agent.execute('scene:overloaded', sessionIn(rig));
      const friendly = 'The AI service is temporarily unavailable. Please try again in a moment.';
      expectEqual([content, isError, rig.requests()], [friendly, true, 2], 'the end');
      await agent.shutdown();
    },
  },
  {
    name: 'agent SDK: returns a 401 immediately [S1.13]',
    run: async (rig) => {
      const agent = agentOf(rig);
      const { isError } = await agent.execute('scene:refused', sessionIn(rig));
      expectEqual([isError, rig.requests()], [true, 1], 'the end');
      await agent.shutdown();
    },
  },
  {
    name: 'agent SDK: cancel while a tool ignores SIGTERM [S1.2, P3]',
    run: async (rig) => {
      const agent = agentOf(rig);
      const running = agent.execute('scene:stubborn', sessionIn(rig), {
        canUseTool: () => ({ type: 'allow' }),
      });
      await until(() => existsSync(join(rig.workspace, 'begun')), 'the tool to begin');
      const told = performance.now();
      await agent.cancel('s');
      expectEqual((await running).content, 'The run was cancelled.', 'the end');
      expect(performance.now() - told < 5000, 'the end within 5 s');
    },
  },
  {
    name: 'agent SDK: buildEngine converts a run to events [S1.15]',
    run: async (rig) => {
      const agent = agentOf(rig);
      const engine = buildEngine(agent, { workingDir: rig.workspace, gate: () => ({ type: 'allow' }) });
      const run = engine.prompt('scene:shell made-by-engine');
      const kinds: string[] = [];
      for await (const event of run) if ('seq' in event) kinds.push(event.type);
      const { status, metrics } = await run;
      expectEqual([status, metrics.toolCalls, metrics.totalInputTokens], ['complete', 1, 240], 'the end');
      expectEqual(
        kinds,
        ['user', 'assistant', 'tool_started', 'tool_result', 'assistant', 'finished'],
        'the events',
      );
      expect(existsSync(join(rig.workspace, 'made-by-engine')), 'the file');
      await engine.close();
      await agent.shutdown();
    },
  },
];

function caller(tool: AgentTool, budget: Budget): (args: Record<string, unknown>) => Promise<SessionReport> {
  const signal = new AbortController().signal;
  const context: ToolContext = { signal, callId: 'c', idempotencyKey: 'k', progress: () => {}, budget };
  return async (args) => {
    const { content } = (await tool.execute(args, context)) as { content: string };
    return JSON.parse(content) as SessionReport;
  };
}

/** Cases of the harness and the tools that are built on the programs. */
export const wholeCases: readonly Case[] = [
  {
    name: 'agent tool: create, send after a restart, async and destroy with both programs [S2.1, S2.23]',
    run: async (rig) => {
      const budget = new Budget();
      const backends = [claudeCode(rig.claude), codex(rig.codex)];
      const open = () =>
        createAgentTool({
          workspace: rig.workspace,
          backends,
          sessionsFile: join(rig.area, 'sessions.json'),
        });
      const before = open();
      for (const backend of ['claude-code', 'codex'])
        expectEqual(
          (await caller(before, budget)({ action: 'create', backend, prompt: 'scene:say' })).status,
          'completed',
          backend,
        );
      await before.close();
      const after = open();
      const call = caller(after, budget);
      for (const session_id of ['as-1', 'as-2'])
        expectEqual(
          (await call({ action: 'send', session_id, prompt: 'scene:count' })).result,
          'Heard 2.',
          session_id,
        );
      expectEqual(budget.tokens, 600, 'the tokens of all four jobs');
      await call({ action: 'create', backend: 'claude-code', prompt: 'scene:silent', async: true });
      await until(() => left(rig.marker).length > 0, 'the job in the background');
      expectEqual((await call({ action: 'destroy', session_id: 'as-3' })).status, 'destroyed', 'the third');
      await after.close();
    },
  },
  {
    name: 'harness: a conversation with Claude Code emits events and continues after a restart',
    run: async (rig) => {
      const harness = delegatedHarness({ backend: claudeCode(rig.claude), workingDir: rig.workspace });
      const one = await harness.prompt('scene:say').result;
      const two = await harness.prompt('scene:count').result;
      expectEqual(
        [one.status, one.text, two.text],
        ['complete', 'Hello from the mock.', 'Heard 2.'],
        'the responses',
      );
      expectEqual(two.metrics.usd?.toFixed(6), one.metrics.usd?.toFixed(6), 'the cost');
      await harness.close();
    },
  },
  ...(['claude-code', 'codex'] as const).map((backend) => ({
    name: `command line: run --backend ${backend}`,
    run: (rig: Rig) => commandLine(rig, backend),
  })),
  ...(['claude', 'codex'] as const).map((program) => ({
    name: `${program}: the next start after kill -9 of Cobbler ends all processes of the run [P3]`,
    run: (rig: Rig) => killedInTheMiddle(rig, program),
  })),
];

async function killedInTheMiddle(rig: Rig, program: 'claude' | 'codex'): Promise<void> {
  const records = join(rig.area, 'processes');
  const permission = program === 'claude' ? 'gate' : 'edit';
  // In a sandbox, the processes would end with Cobbler.
  const options = JSON.stringify({ ...rig[program], permission, sandbox: 'off' });
  const source = `
    import { recordProcesses } from '@cobbler/agent/node';
    import { claudeCode, codex } from '@cobbler/delegate';
    await recordProcesses(${JSON.stringify(records)});
    const backend = ${program === 'claude' ? 'claudeCode' : 'codex'}(${options});
    const job = backend.start({ prompt: 'scene:stubborn', workingDir: ${JSON.stringify(rig.workspace)} },
      { onEvent: (one) => one.type === 'asked' && job.decide(one.callId, { type: 'allow' }) });
    await job.result;`;
  const flags = ['--conditions=@cobbler/source', '--no-warnings', '--input-type=module', '-e', source];
  const child = spawn(process.execPath, flags, {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await until(() => existsSync(join(rig.workspace, 'begun')), 'the tool to begin');
  child.kill('SIGKILL');
  await gone;
  expect(left(rig.marker).length > 0, 'processes that still run before the next start');
  const { left: rest } = await reapOrphans(records);
  expectEqual([rest, left(rig.marker)], [0, []], 'the processes after the next start');
}

/** Runs the CLI with the program on the PATH and its key in the environment, without other options. */
async function commandLine(rig: Rig, backend: string): Promise<void> {
  const bin = join(rig.area, 'bin');
  mkdirSync(bin);
  symlinkSync(rig.programs.claude, join(bin, 'claude'));
  symlinkSync(rig.programs.codex, join(bin, 'codex'));
  const main = join(import.meta.dirname, '..', '..', '..', 'apps', 'cli', 'src', 'main.ts');
  const args = ['run', '--backend', backend, '--yes', '--json', 'scene:shell made-by-command-line'];
  const child = spawn(process.execPath, ['--conditions=@cobbler/source', '--no-warnings', main, ...args], {
    cwd: rig.workspace,
    env: {
      ...rig.env,
      ...rig.claude.extraEnv,
      PATH: `${bin}:${rig.env['PATH']}`,
      COBBLER_HOME: join(rig.area, 'cobbler'),
      OPENAI_BASE_URL: `${rig.url}/v1`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const events = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; status?: string });
  expectEqual([code, events.at(-1)?.type, events.at(-1)?.status], [0, 'finished', 'complete'], 'the end');
  expectEqual(events.filter(({ type }) => type === 'tool_result').length, 1, 'the calls');
  expect(existsSync(join(rig.workspace, 'made-by-command-line')), 'the file');
  expectEqual(readdirSync(join(rig.area, 'cobbler', 'processes')), [], 'the recorded processes');
}
