import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Executor } from '@cobbler/agent';
import { fakeRuntime, scriptedAgent } from '@cobbler/agent/testing';
import type { SessionAgent } from '../src/index.ts';
import { claudeCode, delegatedHarness } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'sample-arguments-'));

const program = () => ({
  ...{ env: { PATH: '/none' }, extraEnv: { A: 'b' }, path: '/none/program', timeoutMs: 10, graceMs: 10 },
  ...{ retries: 0, retryMs: 1, sandboxed: false, sandbox: 'off' as const, runtime: fakeRuntime() },
});
const backend = () => claudeCode(program());
const limits = { turns: 1, usd: 1, tokens: 10 };
const usage = { inputTokens: 1, outputTokens: 1 };
const request = {
  ...{ prompt: 'Go.', workingDir: folder, systemPrompt: 'Be brief.', maxTurns: 1, maxUsd: 1, maxTokens: 10 },
  ...{ resumeId: 'conversation-1', before: { usage, usd: 1 } },
};
const context = () => ({ signal: AbortSignal.abort(), onEvent: () => {} });
const response = { content: 'Done.', sessionId: null, cost: 0, numTurns: 1, toolsUsed: ['Read'], usage };
const sessionAgent: SessionAgent = {
  execute: async () => ({ ...response, durationMs: 1, isError: false }),
  cancel: async () => {},
  shutdown: async () => {},
};
const session = () => ({
  sessionId: 'session-1',
  workingDirectory: folder,
  mode: 'plan',
  claudeSessionId: null,
});
const callbacks = { canUseTool: () => 'allow', onTextChunk: () => {}, onToolActivity: () => {} };
const harness = () => ({
  ...{ workingDir: folder, tools: ['look'], limits, sessionId: 'session-1', whenBusy: 'queue' },
  ...{ pricing: () => undefined, handler: {}, system: 'Be brief.', attended: false, approvalMs: 1 },
});

const emptyQuery = () => ({ async *[Symbol.asyncIterator]() {}, close() {}, async interrupt() {} });

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  agentResponse: () => [response],
  buildEngine: () => [sessionAgent, { ...harness(), mode: 'plan', name: 'agent' }],
  'buildEngine().prompt': () => ['Go.', { runId: 'run-1' }],
  'buildEngine().steer': () => ['Stop.'],
  claudeCode: () => [{ ...program(), permission: 'gate', model: 'fast', settingSources: ['user'] }],
  'claudeCode().run': () => [request, context()],
  'claudeCode().start': () => [request, context()],
  'claudeCode().start().decide': () => ['call-1', { type: 'allow' }],
  'claudeCode().start().steer': () => ['Stop.'],
  codex: () => [
    { ...program(), model: 'best', baseUrl: 'http://127.0.0.1:9', config: ['a=1'], via: 'app-server' },
  ],
  'codex().run': () => [request, context()],
  'codex().start': () => [request, context()],
  'codex().start().decide': () => ['call-1', { type: 'allow' }],
  'codex().start().steer': () => ['Stop.'],
  delegatedHarness: () => [{ backend: backend(), ...harness() }],
  'delegatedHarness().prompt': () => ['Go.', { runId: 'run-1' }],
  'delegatedHarness().steer': () => ['Stop.'],
  delegatedLoop: () => [
    { backend: backend(), workingDir: folder, limits, tools: ['look'], pricing: () => undefined },
  ],
  'delegatedLoop().pricing': () => ['claude-code', 'fast', 1],
  findProgram: () => ['program', { PATH: '/none' }],
  toSessionAgent: () => [() => delegatedHarness({ backend: backend(), workingDir: folder })],
  'toSessionAgent().execute': () => ['Go.', session(), callbacks],
  'toSessionAgent().cancel': () => ['session-1'],
  'new ClaudeCodeAgent': () => [
    {
      ...{
        maxTurns: 1,
        systemPrompt: 'Be brief.',
        allowedTools: ['Read'],
        disallowedTools: ['Bash'],
        model: 'fast',
      },
      ...{ settingSources: ['user'], env: {}, extraEnv: { A: 'b' }, path: '/none', retryMs: 1, graceMs: 1 },
      ...{ runtime: fakeRuntime(), sandbox: 'off', sdk: { query: emptyQuery } },
    },
  ],
  'new ClaudeCodeAgent().execute': () => ['Go.', session(), callbacks],
  'new ClaudeCodeAgent().cancel': () => ['session-1'],
  createAgentTool: () => [
    {
      ...{ workspace: folder, backends: [backend()], maxSessions: 1, timeoutMs: 10, permission: 'read-only' },
      ...{
        sessionsFile: null,
        pricing: () => undefined,
        allowUnpriced: true,
        env: {},
        runtime: fakeRuntime(),
        asks: false,
      },
    },
  ],
  subAgent: () => [{ name: 'helper', executor: () => new Executor({ agent: scriptedAgent(['Done.']) }) }],
};

const called = 'the loop calls the functions of a tool, with arguments that it has validated';

const started = 'only the agent tool starts the tasks of a sub-agent, with what it has read';

const exceptions: Readonly<Record<string, string>> = {
  'createAgentTool().execute': called,
  'createAgentTool().subject': called,
  'subAgent().run': started,
  'subAgent().start': started,
};

export const sampleTable: {
  readonly samples: typeof samples;
  readonly exceptions: typeof exceptions;
  readonly folder: string;
} = { samples, exceptions, folder };
