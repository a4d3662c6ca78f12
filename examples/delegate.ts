// A run of our own hands a job to Claude Code and says what all of it cost. It needs no key: both models are played
// by a script on this machine; Claude Code itself is the real one. `npm run test:clis` fetches it, or have `claude`
// on the PATH. Run it with: npm run try examples/delegate.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Budget, Executor } from '@cobbler/agent';
import { recordProcesses } from '@cobbler/agent/node';
import type { ProviderTesting } from '@cobbler/agent/testing';
import { callBlock, plays, scriptAnswer, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { claudeCode, createAgentTool, findProgram } from '@cobbler/delegate';
import { claudePricing, createClaude } from '@cobbler/provider-claude';
import { claudeTesting } from '@cobbler/provider-claude/testing';

const model = 'claude-opus-5-5';
const says = (...blocks: Parameters<typeof scriptAnswer>[0]) => plays(scriptAnswer(blocks, { model }));

// The scripted service: our own model first, then that of Claude Code, then our own again.
const job = { action: 'create', backend: 'claude-code', prompt: 'Count the files of this folder.' };
const testing: ProviderTesting = {
  ...claudeTesting,
  refuse: () => undefined,
  read: (body) => {
    const { messages, ...rest } = body as { messages: { role: string }[] };
    return claudeTesting.read({ ...rest, messages: messages.filter(({ role }) => role !== 'system') });
  },
};
const service = wireServer(testing, [
  says('I will have it counted.', callBlock('toolu_1', 'agent', job)),
  says('Counting.', callBlock('toolu_2', 'Bash', { command: 'ls | wc -l', description: 'count the files' })),
  says('There is no file here.'),
  says('Claude Code says: there is no file here.'),
]);
const { url, close } = await serveLoopback(service.handler);
const area = mkdtempSync(join(tmpdir(), 'cobbler-example-'));

// Should this program be killed, the next one that says this ends what it left behind.
await recordProcesses(join(area, 'processes'));
const key = { ANTHROPIC_API_KEY: 'sk-ant-example', ANTHROPIC_BASE_URL: url };
const program = findClaude();
const tool = createAgentTool({
  workspace: area,
  sessionsFile: null,
  backends: [
    claudeCode({
      env: { PATH: process.env['PATH'] ?? '', HOME: area, CLAUDE_CONFIG_DIR: join(area, 'config'), ...key },
      ...(program !== undefined && { path: program }),
    }),
  ],
});

// One budget for the run and for whatever it hands on.
const budget = new Budget({ usd: 1 });
const executor = new Executor({
  agent: createClaude({ apiKey: key.ANTHROPIC_API_KEY, baseURL: url, model }),
  tools: [tool],
  pricing: claudePricing,
  limits: { usd: 1 },
});
try {
  const result = await executor.run('How many files are here? Let Claude Code count them.', { budget });
  const own = result.metrics.totalInputTokens + result.metrics.totalOutputTokens;
  process.stdout.write(`${result.status}: ${result.text}\n`);
  process.stdout.write(`own model  ${own} tokens  $${result.metrics.usd?.toFixed(6)}\n`);
  process.stdout.write(`in total   ${budget.tokens} tokens  $${budget.usd.toFixed(6)}\n`);
  if (result.status !== 'complete') process.stderr.write(`${result.error?.message}\n`);
} finally {
  await tool.close();
  await close();
  rmSync(area, { recursive: true, force: true });
}

/** On the PATH, or where `npm run test:clis` put it. */
function findClaude(): string | undefined {
  const onPath = findProgram('claude', process.env);
  if (onPath !== undefined) return onPath;
  try {
    const require = createRequire(join(import.meta.dirname, '..', 'e2e', 'clis', 'package.json'));
    const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/package.json`;
    return join(dirname(require.resolve(name)), 'claude');
  } catch {
    return undefined;
  }
}
