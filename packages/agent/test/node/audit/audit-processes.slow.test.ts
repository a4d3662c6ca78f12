import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { auditFolder, recordsAt, verified, writeAt } from './audit-rig.ts';

const patience = { timeout: 60_000 };
const program = fileURLToPath(new URL('./audit-child.ts', import.meta.url));

/** Starts a process that writes so many records, and collects what it prints. */
function writer(folder: string, surface: string, amount: string) {
  const child = spawn(process.execPath, ['--conditions=@cobbler/source', program, folder, surface, amount], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return { child, ended: once(child, 'close'), text: () => text };
}

test('several processes write to one chain at the same time', patience, async () => {
  const folder = auditFolder();
  const writers = ['one', 'two', 'three'].map((surface) => writer(folder, surface, '300'));
  await Promise.all(writers.map(({ ended }) => ended));
  expect(writers.map(({ text }) => text())).toEqual(['writing\n', 'writing\n', 'writing\n']);
  const records = recordsAt(folder);
  for (const surface of ['one', 'two', 'three']) {
    const own = records.filter((record) => record.surface === surface && record.kind === 'token');
    expect(own.map(({ token }) => token)).toEqual(own.map((_, index) => `${surface}-${index}`));
    expect(own).toHaveLength(300);
  }
  const report = await verified(folder);
  expect(report).toMatchObject({ lines: records.length, signed: records.length });
  expect(report).not.toHaveProperty('problem');
});

test('after kill -9, the next process continues the chain', patience, async () => {
  const folder = auditFolder();
  for (const surface of ['one', 'two']) {
    const { child, ended } = writer(folder, surface, 'forever');
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await ended;
  }
  writeAt(folder);
  const kinds = recordsAt(folder).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'start')).toHaveLength(3);
  expect(kinds.filter((kind) => kind === 'stop')).toHaveLength(1);
  const report = await verified(folder);
  expect(report).not.toHaveProperty('problem');
  expect(report.signed).toBe(kinds.length);
});
