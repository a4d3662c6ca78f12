import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import lighthouse from 'lighthouse';
import type { BrowserContext } from 'playwright-core';
import { chromium } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { startChromium } from './browser.ts';
import type { Rig } from './rig.ts';
import { rig } from './rig.ts';
import { say, stands } from './visitor.ts';

let one: Rig;
let context: BrowserContext;
let port = 0;

beforeAll(async () => {
  one = await rig();
  const profile = await mkdtemp(join(tmpdir(), 'page-lighthouse-'));
  // Lighthouse opens a tab of its own in the default context, which has the cookie of the page.
  context = await startChromium(({ args, ...options }) =>
    chromium.launchPersistentContext(profile, {
      ...options,
      args: [...args, '--remote-debugging-port=0'],
      headless: true,
    }),
  );
  port = Number((await readFile(join(profile, 'DevToolsActivePort'), 'utf8')).split('\n')[0]);
  const page = await context.newPage();
  await page.goto(one.address);
  await one.ask('POST', '/v1/sessions', { id: 'talk' });
  await page.goto(`${one.server.url}/s/talk`);
  await say(page, 'prose please');
  await stands(page, 'complete');
  await page.close();
  return async () => {
    await context.close();
    await one.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
}, 60_000);

test.each(['/', '/s/talk', '/costs'])(
  'Lighthouse finds no fault in %s',
  { timeout: 120_000 },
  async (path) => {
    const result = await lighthouse(one.server.url + path, {
      port,
      disableStorageReset: true,
      logLevel: 'error',
      onlyCategories: ['accessibility', 'best-practices'],
      // No simulated slow network. The stream of events never ends, so Lighthouse waits for no end of the load.
      throttlingMethod: 'provided',
      maxWaitForLoad: 5_000,
    });
    if (result === undefined) throw new Error('Lighthouse has no result.');
    const { audits, categories } = result.lhr;
    const score = (name: string) => Math.round((categories[name]?.score ?? 0) * 100);
    const faults = ['accessibility', 'best-practices'].flatMap((name) =>
      (categories[name]?.auditRefs ?? []).flatMap(({ id, weight }) => {
        const audit = audits[id];
        return weight === 0 || audit === undefined || audit.score === null || audit.score === 1
          ? []
          : `${id}: ${audit.title} ${JSON.stringify(audit.details)?.slice(0, 600)}`;
      }),
    );
    expect(faults).toEqual([]);
    expect([score('accessibility'), score('best-practices')]).toEqual([100, 100]);
  },
);
