// Shows a run that delegates a task to Claude Code and prints the total cost.
// Run it with: npm run try -- examples/delegate.ts
//
// Needs no key, because a script on this machine plays both models. Uses the Claude Code program on the PATH or the
// program that `npm run verify -- clis` downloaded.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Budget, Executor } from '@cobbler/agent';
import { recordProcesses } from '@cobbler/agent/node';
import type { ProviderTesting } from '@cobbler/agent/testing';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { claudeCode, findProgram } from '@cobbler/delegate';
import { createAgentTool } from '@cobbler/delegate/agent-tool';
import { claudePricing, createClaude } from '@cobbler/provider-claude';
import { claudeTesting } from '@cobbler/provider-claude/testing';

const model = 'claude-opus-5-5';
const says = (...blocks: Parameters<typeof scriptResponse>[0]) => replies(scriptResponse(blocks, { model }));

// The scripted service receives requests from this program and from Claude Code, and tells them apart by their tools.
const job = { action: 'create', backend: 'claude-code', prompt: 'say There is no file here.' };
const testing: ProviderTesting = {
  ...claudeTesting,
  request: { path: '/v1/messages' },
  refuse: () => undefined,
  read(body) {
    const { messages, ...rest } = body as { messages: { role: string }[] };
    return claudeTesting.read({ ...rest, messages: messages.filter(({ role }) => role !== 'system') });
  },
};
const service = wireServer(testing, ({ tools, turns }) => {
  const isOurs = tools.some(({ name }) => name === 'agent');
  const hasWorked = turns.some(({ parts }) => parts.some(({ type }) => type === 'result'));
  if (isOurs) return hasWorked ? says('There is none.') : says('Let me ask.', callBlock('t1', 'agent', job));
  if (hasWorked) return says('There is no file here.');
  return says('Counting.', callBlock('t2', 'Bash', { command: 'ls | wc -l', description: 'count files' }));
});
const { url, close } = await serveLoopback(service.handler);
const area = mkdtempSync(join(tmpdir(), 'cobbler-example-'));
const fetched = join(import.meta.dirname, '../e2e/clis/node_modules/@anthropic-ai');
const inClis = join(fetched, `claude-agent-sdk-${process.platform}-${process.arch}`, 'claude');
const path = findProgram('claude', process.env) ?? (existsSync(inClis) ? inClis : undefined);

// If this program is killed, the next call of this function ends the processes that it left running.
await recordProcesses(join(area, 'processes'));
const key = { ANTHROPIC_API_KEY: 'sk-ant-example', ANTHROPIC_BASE_URL: url };
const own = { HOME: area, CLAUDE_CONFIG_DIR: join(area, 'config') };
const env = { PATH: process.env['PATH'] ?? '', ...own, ...key };
const backends = [claudeCode({ env, ...(path !== undefined && { path }) })];
const tool = createAgentTool({ workspace: area, sessionsFile: null, backends });

// The run and all tasks that it delegates share one budget.
const budget = new Budget({ usd: 1 });
const agent = createClaude({ apiKey: key.ANTHROPIC_API_KEY, baseURL: url, model });
const executor = new Executor({ agent, tools: [tool], pricing: claudePricing, limits: { usd: 1 } });
const run = executor.run('How many files are here? Let Claude Code count them.', { budget });
run.subscribe((event) => {
  const [part] = event.type === 'tool_result' ? event.content : [];
  if (part?.type === 'text') console.log('Claude Code:', /"result": (.*)/.exec(part.text)?.[1] ?? part.text);
});
const { status, text, error, metrics } = await run;
console.log(`${status}: ${text} ${error?.message ?? ''}`);
const tokens = metrics.totalInputTokens + metrics.totalOutputTokens;
console.log(`the run    ${tokens} tokens  $${metrics.usd?.toFixed(6)}`);
console.log(`the budget ${budget.tokens} tokens  $${budget.usd.toFixed(6)}`);
await tool.close();
await close();
rmSync(area, { recursive: true, force: true });
