import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Figures } from '../src/load/figures.ts';
import { load } from '../src/load/load.ts';
import { Reader } from '../src/load/reader.ts';
import { CobblerProcess } from '../src/server/cobbler-process.ts';
import { startModelService } from '../src/server/model-service.ts';

const size = { sessions: 3, watchers: 4, seconds: 1, seed: 1, keeps: false };

test('a server under load handles prompts, cancels, approvals and readers, and loses no event', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-load-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const model = await startModelService();
  onTestFinished(() => model.close());
  const server = await CobblerProcess.start({ modelUrl: model.url, folder });
  onTestFinished(() => server.stop());
  const approve = `use write_file ${JSON.stringify({ path: 'a.txt', content: 'a' })}`;
  const { lines, isGood } = await load(server, { talk: 'say 5', cancel: 'hang', approve }, size);
  const report = lines.join('\n');
  expect([report, isGood]).toEqual([expect.stringContaining('events lost: 0, duplicated: 0'), true]);
  for (const what of ['a prompt is accepted', 'a run is cancelled', 'an approval is decided'])
    expect(report).toMatch(new RegExp(`^${what} +[1-9]`, 'm'));
});

test('the load test counts lost and repeated events and rejected requests', async () => {
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    if (!request.url?.endsWith('/events')) return void response.writeHead(503).end('{"code":"stopping"}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const id of [1, 2, 2, 4]) response.write(`id: ${id}\ndata: {"type":"user"}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const target = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'none' };
  const figures = new Figures();
  const reader = new Reader(target, 's', figures);
  await expect.poll(() => reader.seen).toBe(4);
  await reader.leave(6, 50);
  expect([reader.lost, reader.doubled, figures.errors]).toEqual([3, 1, 0]);
  const { lines, isGood } = await load(target, { talk: 'a', cancel: 'a' }, size);
  expect([isGood, lines.join('\n')]).toEqual([
    false,
    expect.stringContaining('3 x a session is made: 503 stopping'),
  ]);
});
