import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment, reapOrphans, recordProcesses, superviseProcess } from '@cobbler/agent/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bootId, identityOf, setRecords } from '../../src/node/process/process-record.ts';
import { readProcessTable } from '../../src/node/process/process-table.ts';
import { systemRuntime } from '../../src/values/runtime.ts';

let area: string;
let records: string;

beforeEach(() => {
  area = mkdtempSync(join(tmpdir(), 'orphans-'));
  records = join(area, 'processes');
});

afterEach(() => {
  setRecords(undefined);
  rmSync(area, { recursive: true, force: true });
});

/** Runs `line` in a new Cobbler process and kills that process with SIGKILL. */
async function killedInTheMiddleOf(line: string): Promise<void> {
  const source = `
    import { recordProcesses, superviseProcess } from '@cobbler/agent/node';
    await recordProcesses(${JSON.stringify(records)});
    superviseProcess({ argv: ['/bin/sh', '-c', ${JSON.stringify(line)}], cwd: ${JSON.stringify(area)},
      env: { PATH: process.env.PATH }, onOutput: (chunk) => process.stdout.write(chunk) });`;
  const node = ['--no-warnings', '-C', '@cobbler/source', '--input-type=module', '-e', source];
  const child = spawn(process.execPath, node, {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve) =>
    child.stdout.on('data', (text) => String(text).includes('ready') && resolve()),
  );
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  await gone;
}

function pids(): number[] {
  return readFileSync(join(area, 'pids'), 'utf8').trim().split('\n').map(Number);
}

function isRunning(pid: number): boolean {
  return readProcessTable().some((entry) => entry.pid === pid);
}

const stubborn = `sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done'`;
const untilThree = 'while [ "$(cat pids 2>/dev/null | wc -l)" -lt 3 ]; do :; done; echo ready';

describe.skipIf(process.platform !== 'linux')(
  'reapOrphans after a Cobbler process was killed (needs Linux)',
  () => {
    it('ends the child, a grandchild that ignores SIGTERM, and a detached daemon [P3]', async () => {
      await killedInTheMiddleOf(
        `trap "" TERM; echo $$ >> pids; ${stubborn} & (setsid ${stubborn} > /dev/null 2>&1 &) ; ${untilThree}; sleep 60`,
      );
      expect(pids().filter(isRunning)).toHaveLength(3);
      let waited = 0;
      const timer = (ms: number, fire: () => void) => {
        waited += ms;
        return systemRuntime.timer(ms, fire);
      };
      const { ended, left } = await reapOrphans(records, { ...systemRuntime, timer });
      expect(left).toBe(0);
      expect(ended).toBeGreaterThanOrEqual(3);
      // Adds up only the requested delays, so a slow machine does not matter.
      expect(waited).toBeLessThan(5000);
      expect(pids().filter(isRunning)).toEqual([]);
      expect(readdirSync(records)).toEqual([]);
    });

    it('finds a daemon by its mark after the child has ended [P3]', async () => {
      await killedInTheMiddleOf(
        `(setsid ${stubborn} > /dev/null 2>&1 &) ; echo 1 >> pids; echo 1 >> pids; ${untilThree}; exec sleep 60`,
      );
      const [child] = readdirSync(records).map(
        (name) => JSON.parse(readFileSync(join(records, name), 'utf8')).child,
      );
      process.kill(child.pid, 'SIGKILL');
      await expect.poll(() => isRunning(child.pid)).toBe(false);
      const daemon = pids().find((pid) => pid !== 1) ?? 0;
      expect(isRunning(daemon)).toBe(true);
      await reapOrphans(records);
      expect(isRunning(daemon)).toBe(false);
    });

    it('leaves the processes of a running Cobbler alone', async () => {
      await recordProcesses(records);
      const own = superviseProcess({
        argv: ['/bin/sh', '-c', 'exec sleep 60'],
        cwd: area,
        env: childEnvironment(process.env),
      });
      expect(readdirSync(records)).toHaveLength(1);
      expect(await reapOrphans(records)).toEqual({ ended: 0, left: 0 });
      expect(isRunning(own.pid ?? 0)).toBe(true);
      own.stop();
      expect((await own.ended).cause).toBe('aborted');
      expect(readdirSync(records)).toEqual([]);
    });

    it('leaves a process with a reused id alone, and records from an earlier boot', async () => {
      await recordProcesses(records);
      const own = superviseProcess({
        argv: ['/bin/sleep', '60'],
        cwd: area,
        env: childEnvironment(process.env),
      });
      const gone = { pid: process.pid, started: 1 };
      const child = identityOf(own.pid ?? 0) ?? gone;
      const write = (mark: string, record: object) =>
        writeFileSync(join(records, `${mark}.json`), JSON.stringify({ mark, owner: gone, ...record }));
      const [one, two] = ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'];
      write(one, { boot: bootId(), child: { ...child, started: child.started + 1 } });
      write(two, { boot: 'another', child });
      expect(await reapOrphans(records)).toEqual({ ended: 0, left: 0 });
      expect(isRunning(child.pid)).toBe(true);
      expect(existsSync(join(records, `${one}.json`)) || existsSync(join(records, `${two}.json`))).toBe(
        false,
      );
      own.stop();
      await own.ended;
    });

    it('ignores a missing directory and an unreadable record', async () => {
      await recordProcesses(records);
      expect(await reapOrphans(join(area, 'none'))).toEqual({ ended: 0, left: 0 });
      const own = superviseProcess({ argv: ['/bin/true'], cwd: area, env: {} });
      writeFileSync(join(records, '00000000-0000-0000-0000-000000000003.json'), '{"mark":');
      expect(await reapOrphans(records)).toEqual({ ended: 0, left: 0 });
      await own.ended;
    });
  },
);

describe('a supervised process with an open input', () => {
  it('accepts more input while it runs, until the input is ended', async () => {
    const heard: string[] = [];
    const own = superviseProcess({
      argv: ['/bin/sh', '-c', 'while read line; do echo "heard $line"; done; echo over'],
      cwd: area,
      env: childEnvironment(process.env),
      input: 'one\n',
      keepInputOpen: true,
      onOutput: (chunk) => {
        const text = String(chunk);
        heard.push(text);
        if (text.includes('heard one')) own.write('two\n');
        if (text.includes('heard two')) own.endInput();
      },
    });
    expect(await own.ended).toMatchObject({ cause: 'exit', code: 0 });
    expect(heard.join('')).toBe('heard one\nheard two\nover\n');
    own.write('nobody hears it');
  });
});
