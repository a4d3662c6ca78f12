import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reapOrphans } from '@cobbler/agent/node';
import { expect, test, vi } from 'vitest';
import { folder, isRunning } from './stage.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

test('the next start ends the MCP server of a killed Cobbler and its child processes [P3]', {
  timeout: 60_000,
}, async () => {
  const area = folder();
  const [log, records, ready] = ['log', 'processes', 'ready'].map((name) => join(area, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(log, '');
  const server = { command: process.execPath, args: [here('fake-server.ts'), 'stubborn', log] };
  const source = `
    import { writeFileSync } from 'node:fs';
    import { recordProcesses } from '@cobbler/agent/node';
    import { connectMcp } from ${JSON.stringify(here('../../src/mcp/index.ts'))};
    await recordProcesses(${JSON.stringify(records)});
    const mcp = await connectMcp({ servers: { fake: ${JSON.stringify(server)} } });
    const tool = mcp.tools.find(({ name }) => name === 'mcp__fake__child');
    const { content } = await tool.execute({}, { signal: new AbortController().signal, progress: () => {} });
    writeFileSync(${JSON.stringify(ready)}, content[0].text);
    setInterval(() => {}, 1000);`;
  const flags = ['--conditions=@cobbler/source', '--no-warnings', '--input-type=module', '-e', source];
  const cobbler = spawn(process.execPath, flags, {
    cwd: here('..'),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const gone = new Promise((resolve) => cobbler.once('exit', resolve));
  await vi.waitUntil(() => existsSync(ready) && readFileSync(ready, 'utf8') !== '', 60_000);
  cobbler.kill('SIGKILL');
  await gone;
  const pids = [
    Number(/started (\d+)/.exec(readFileSync(log, 'utf8'))?.[1]),
    Number(readFileSync(ready, 'utf8')),
  ];
  expect(pids.map(isRunning)).toEqual([true, true]);
  expect(await reapOrphans(records)).toMatchObject({ left: 0 });
  expect(pids.map(isRunning)).toEqual([false, false]);
});
