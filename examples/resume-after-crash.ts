// Shows a run that survives kill -9. Another process continues it, and no `once` tool runs twice.
// Run it with: npm run try -- examples/resume-after-crash.ts
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineTool, Executor } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { scriptedAgent } from '@cobbler/agent/testing';

const [folder, dies] = process.argv.slice(2);
if (folder === undefined) tellTheStory();
else await work(folder, dies === 'dies');

/** Runs in each process. The first process starts the task, and the second process continues it. */
async function work(folder: string, dies: boolean): Promise<void> {
  const note = (text: string) => appendFileSync(join(folder, 'ledger'), `${text}\n`);
  const pay = defineTool({
    name: 'pay',
    description: 'Pays the postage.',
    parameters: { type: 'object' },
    execute() {
      note('paid');
      // The payment is made but not yet recorded. This is the worst moment for a crash.
      if (dies) process.kill(process.pid, 'SIGKILL');
      return 'paid';
    },
  });
  const weigh = defineTool({
    ...pay,
    name: 'weigh',
    effect: 'read',
    execute: () => note('weighed') ?? '2 kg',
  });
  // The model depends only on the conversation, so any process can continue.
  const answers = [
    { calls: [{ name: 'weigh', arguments: {} }] },
    { calls: [{ name: 'pay', arguments: {} }] },
    'I cannot tell if it was paid; please check before I pay again.',
  ];
  const agent = scriptedAgent(
    [({ messages }) => answers[messages.filter(({ role }) => role === 'assistant').length] ?? ''],
    { repeat: true },
  );
  const store = sqliteStore(join(folder, 'sessions.db'));
  const executor = new Executor({ agent, tools: [weigh, pay], store });
  const run = dies ? executor.run('Send the parcel.', { sessionId: 'parcel' }) : executor.resume('parcel');
  run.subscribe((event) => {
    const [part] = event.type === 'tool_result' ? event.content : [];
    if (part?.type === 'text') console.log('  the model sees:', part.text.split('\n')[0]);
  });
  const { status, text } = await run;
  console.log(`  ${status}: ${text}`);
  await store.close();
}

function tellTheStory(): void {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-example-'));
  for (const word of ['dies', 'goes-on']) {
    const args = [...process.execArgv, fileURLToPath(import.meta.url), folder, word];
    const { signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    process.stdout.write(`${stdout}a process ended by ${signal ?? 'itself'}\n${stderr}`);
  }
  const done = readFileSync(join(folder, 'ledger'), 'utf8').trim().split('\n');
  console.log('what really happened:', done.join(', '));
  rmSync(folder, { recursive: true });
}
