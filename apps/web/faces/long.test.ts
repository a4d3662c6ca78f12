// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
import { expect, onTestFinished, test } from 'vitest';
import { seedLog } from './long-log.ts';
import { rig } from './rig.ts';
import { visit, withBrowser } from './visitor.ts';

withBrowser();

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly args: { readonly name?: string };
  /** The CPU time of the task in microseconds, independent of other load on the machine. */
  readonly tdur?: number;
}

test('a page of 5,000 events scrolls with tasks under 100 ms and a heap under 150 MB', {
  timeout: 180_000,
}, async () => {
  const one = await rig();
  onTestFinished(() => one.close());
  const events = await seedLog(one.store, 'long', 5_000);
  const { page, context } = await visit(one.address);
  const began = Date.now();
  await page.goto(`${one.server.url}/s/long`);
  await page.locator('.state.complete').waitFor();
  const loadedMs = Date.now() - began;
  const tools = await context.newCDPSession(page);
  const trace: TraceEvent[] = [];
  tools.on('Tracing.dataCollected', ({ value }) => trace.push(...(value as unknown as TraceEvent[])));
  await tools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'] },
  });
  await page.evaluate(async () => {
    const scroller = document.querySelector('.scroller');
    if (scroller === null) throw new Error('The page has no scroll container.');
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const by = async (frames: number, step: (at: number) => number) => {
      for (let at = 0; at < frames; at += 1) {
        scroller.scrollTop = step(at);
        await frame();
      }
    };
    // Scroll by wheel, then drag the scroll bar from end to end, then scroll by wheel again.
    await by(200, () => scroller.scrollTop - 400);
    const height = scroller.scrollHeight;
    await by(90, (at) => height * (1 - at / 90));
    await by(200, () => scroller.scrollTop + 500);
  });
  const complete = new Promise((resolve) => tools.once('Tracing.tracingComplete', resolve));
  await tools.send('Tracing.end');
  await complete;
  const main = trace.find(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const tasks = trace.filter(
    ({ name, ph, pid, tid }) => /RunTask/.test(name) && ph === 'X' && pid === main?.pid && tid === main.tid,
  );
  const longest = Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1_000));
  await tools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await tools.send('Runtime.getHeapUsage');
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  process.stdout.write(
    `${events.length} events: loaded in ${loadedMs} ms, longest task ${Math.round(longest)} ms of ${tasks.length}, heap ${(usedSize / 1e6).toFixed(1)} MB, ${nodes} elements\n`,
  );
  expect(tasks.length).toBeGreaterThan(100);
  expect(longest).toBeLessThan(100);
  expect(usedSize).toBeLessThan(150e6);
  expect(nodes).toBeLessThan(5_000);
  await page.getByLabel('Filter events').count();
  expect(await page.locator('.money').innerText()).toContain('$');
});
