// biome-ignore-all lint/performance/useDomNodeTextContent: the tests check the text that a user sees.
import type { Event } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { NextModel } from '@cobbler/server';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { plan, rig, scenePlaces, scenePlay } from './rig.ts';
import { sceneAgent } from './scene.ts';
import {
  clipboardIn,
  idle,
  needsChromium,
  say,
  scene,
  sessionIn,
  stands,
  visit,
  withBrowser,
} from './visitor.ts';

withBrowser();

const saidIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'user' ? [event.content] : []));

const text = (words: string) => ({ type: 'text', text: words }) as const;

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Puts the pointer on a message and presses one of its buttons. */
async function press(page: Page, message: string, button: string): Promise<void> {
  const item = page.locator('.item.said', { hasText: message });
  await item.hover();
  await item.getByRole('button', { name: button }).click();
}

describe('what a run does, in the page', () => {
  test('shows the last lines of a running command, and only its result afterwards', async () => {
    const { page } = await scene();
    await say(page, 'everything please');
    const lines = page.locator('.progress pre');
    await lines.waitFor();
    const [command, ...shown] = (await page.locator('.progress').first().innerText()).split('\n');
    expect(command).toMatch(/^run_command [abc]$/);
    const name = command?.at(-1);
    expect(shown).toEqual([5, 6, 7, 8, 9, 10, 11, 12].map((line) => `line ${line} of ${name}`));
    await stands(page, 'complete');
    expect(await lines.count()).toBe(0);
  });

  test('shows the steps, model and cost of sub-agents, and the same after a reload', async () => {
    const { page } = await scene();
    await say(page, 'delegate it');
    const branch = page.locator('.branch').first();
    await branch.getByText('read_file src/sum.js').first().waitFor();
    await page.reload();
    await branch.getByText('Look 1.').waitFor();
    await stands(page, 'complete');
    const shown = [
      'Look 1.',
      'read_file src/sum.js',
      'search_files src/sum.js failed',
      'read_file src/sum.js',
    ];
    const words = () => branch.locator('li').allInnerTexts();
    expect((await words()).map((line) => line.trim())).toEqual(shown);
    expect(await branch.locator('summary').innerText()).toMatch(
      /5 steps · small-model · 1k tokens · \$0\.020/,
    );
    await page.reload();
    await branch.locator('summary').waitFor();
    expect(await branch.locator('li').first().isVisible()).toBe(false);
    await branch.locator('summary').click();
    expect((await words()).map((line) => line.trim())).toEqual(shown);
  });

  test('moves nothing while it streams text and calls tools', async (context) => {
    needsChromium(context, 'report of layout shifts');
    const { page } = await scene();
    await page.evaluate(() => {
      const shifts: number[] = [];
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[])
          if (!entry.hadRecentInput) shifts.push(entry.value);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await say(page, 'everything please');
    await stands(page, 'complete');
    const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts);
    // The sum of all shifts, which is at least the cumulative layout shift.
    expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.01);
  });

  test('shows every character of a plan, and a to-do list that the user can change', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'todos please');
    await page.locator('.todos').getByText('1 of 3 done Mend').waitFor();
    await page.locator('.todos summary').click();
    await page.getByRole('checkbox', { name: 'Mend' }).check();
    await page.getByRole('button', { name: 'Remove Test' }).click();
    await page.getByLabel('New item').fill('Ship');
    await page.keyboard.press('Enter');
    await page.getByText('changed, sent with your next message').waitFor();
    await say(page, 'plan it');
    await page.locator('.approval .plan').waitFor();
    const note =
      '<attachment name="to-do list">\nThe user changed your to-do list. Continue with this one:\n[x] Read\n[x] Mend\n[ ] Ship\n</attachment>';
    expect(saidIn(await one.store.read(sessionIn(page))).at(-1)).toEqual([text(note), text('plan it')]);
    // The blanks at the end of a line are written as what they are.
    const whole = plan.replace('`  \n', '`\\u{20}\\u{20}\n');
    const lines = await page
      .locator('.approval .plan > div')
      .evaluateAll((all) => all.map((one) => one.textContent));
    expect(lines.map((line) => (line === '\n' ? '' : line)).join('\n')).toBe(whole);
    expect(await page.locator('.approval .plan .heading').innerText()).toBe('# Faster builds');
    await page.getByRole('button', { name: /Allow once/ }).click();
    await stands(page, 'complete');
    expect(await page.locator('.todos').innerText()).toContain('2 of 3 done');
    expect(await page.locator('.item.said', { hasText: 'plan it' }).innerText()).not.toContain(
      'The user changed',
    );
  });
});

describe('going back in the page', () => {
  test('edits a message in a copy that ends before it, with its attachments, and can be cancelled', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'say One.');
    await stands(page, 'complete');
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') },
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') },
    ]);
    await page.locator('.composer .chip', { hasText: 'note.txt' }).getByText('6 B').waitFor();
    await say(page, 'say Two.');
    await page.locator('.item.answer', { hasText: 'Two.' }).waitFor();
    const from = sessionIn(page);
    await idle(one, from);
    const before = await one.store.read(from);
    await page.locator('#message').fill('a draft');
    await press(page, 'say Two.', 'Edit');
    expect(await page.locator('#message').inputValue()).toBe('say Two.');
    await page.locator('.composer').getByText('Files stay as they are.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.locator('#message').inputValue()).toBe('a draft');
    expect(await page.locator('.composer .chip').count()).toBe(0);
    await press(page, 'say Two.', 'Edit');
    await page.getByRole('button', { name: 'Remove note.txt' }).click();
    await say(page, 'say Three.');
    await page.locator('.item.answer', { hasText: 'Three.' }).waitFor();
    const copy = sessionIn(page);
    expect(copy).not.toBe(from);
    await idle(one, copy);
    const image = { type: 'file', mediaType: 'image/png', data: png, name: 'dot.png' };
    expect(saidIn(await one.store.read(copy))).toEqual([[text('say One.')], [image, text('say Three.')]]);
    expect(await one.store.read(from)).toEqual(before);
    expect(await page.locator('.item.said').count()).toBe(2);
  });

  test('sends the last message again, also the first of a session', async () => {
    const { page, rig: one } = await scene();
    await say(page, 'say Once.');
    await stands(page, 'complete');
    const from = sessionIn(page);
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(from));
    await stands(page, 'complete');
    expect(saidIn(await one.store.read(sessionIn(page)))).toEqual([[text('say Once.')]]);
  });
});

describe('the first message in the page', () => {
  test('is sent again in the same directory and with the default model, and a draft stays', async () => {
    const refused = new AgentError({ kind: 'invalid', code: 'not_offered', message: 'Not offered.' });
    const one = await rig({
      places: scenePlaces(),
      models: {
        list: [{ name: 'other' }],
        of: () => ({ model: 'default-1', efforts: [] }),
        choose: () => Promise.reject(refused),
        copy: () => undefined,
      },
    });
    onTestFinished(() => one.close());
    const { page } = await visit(one.address);
    const folder = page.getByLabel('Directory of the listed and new sessions');
    await folder.selectOption('/home/ada/hats');
    await page.getByText('What should be done in hats?').waitFor();
    await say(page, 'say One.');
    await stands(page, 'complete');
    const from = sessionIn(page);
    await folder.selectOption('');
    await page.getByLabel('Message', { exact: true }).fill('A draft.');
    await press(page, 'say One.', 'Edit');
    await say(page, 'say Two.');
    await page.waitForURL((url) => !url.pathname.endsWith(from));
    await page.locator('.item.answer', { hasText: 'Two.' }).waitFor();
    expect((await one.ask('GET', `/v1/sessions/${sessionIn(page)}`))['folder']).toBe('/home/ada/hats');
    await page.goto(`${one.server.url}/s/${from}`);
    await page.locator('.item.answer', { hasText: 'One.' }).waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('A draft.');
  });
});

describe('the model of a session', () => {
  test('is chosen for the next run, before or in a session, and stays in copies', async () => {
    const chosen = new Map<string, NextModel>();
    const efforts = ['low', 'high'];
    const of = (id: string): NextModel => chosen.get(id) ?? { model: 'scene-model', efforts };
    const one = await rig({
      models: {
        list: [{ name: 'scene-model' }, { name: 'other', text: '$1 in $2 out' }],
        of,
        choose: async (id, change) => {
          const { model = of(id).model, effort } = change;
          chosen.set(id, { efforts, model, ...(typeof effort === 'string' && { effort }) });
        },
        copy: (from, to) => void chosen.set(to, of(from)),
      },
      settings: (id) => ({ agent: { ...sceneAgent(scenePlay), model: of(id).model } }),
    });
    onTestFinished(() => one.close());
    const { page } = await visit(one.address);
    await page.getByText('What should be done in shoes?').waitFor();
    await page.getByText('asks before edits and commands').waitFor();
    const [model, effort] = [
      page.getByLabel('Model of the next run'),
      page.getByLabel('Effort of the next run'),
    ];
    await effort.selectOption('high');
    await say(page, 'say One.');
    await stands(page, 'complete');
    expect(of(sessionIn(page))).toEqual({ model: 'scene-model', effort: 'high', efforts });
    await model.selectOption('other');
    await say(page, 'slowly 400');
    await page.locator('.live').waitFor();
    // With all its controls, the message field fits a narrow window.
    await page.setViewportSize({ width: 390, height: 844 });
    const sides = await page
      .locator('.composer, .composer-bar :is(select, button)')
      .evaluateAll((all) =>
        all.map((each) => each.getBoundingClientRect()).map(({ x, width }) => [x, x + width]),
      );
    expect(sides).toHaveLength(6);
    const [outer = [], ...inner] = sides;
    expect(Math.min(...inner.flat())).toBeGreaterThan(outer[0] ?? 0);
    expect(Math.max(...inner.flat())).toBeLessThan(outer[1] ?? 0);
    expect((await effort.boundingBox())?.width).toBeGreaterThan(50);
    await page.setViewportSize({ width: 1280, height: 800 });
    await model.selectOption('scene-model');
    await page.getByRole('button', { name: 'Stop' }).click();
    await stands(page, 'cancelled');
    await say(page, 'say Three.');
    await page.locator('.item.answer', { hasText: 'Three.' }).waitFor();
    const id = sessionIn(page);
    await idle(one, id);
    const asked = (await one.store.read(id)).flatMap((event) =>
      event.type === 'finished' ? [event.runId] : [],
    );
    expect(asked).toHaveLength(3);
    await model.selectOption('other');
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await expect.poll(() => of(sessionIn(page)).model).toBe('other');
    await expect.poll(() => model.inputValue()).toBe('other');
  });
});

describe('code in the page', () => {
  for (const colorScheme of ['light', 'dark'] as const)
    test(`has colors with enough contrast, loaded with the first block, and can be copied: ${colorScheme}`, async () => {
      const { page, complaints } = await scene({ colorScheme });
      const loaded = async (): Promise<number> =>
        await page.evaluate(
          () =>
            performance.getEntriesByType('resource').filter(({ name }) => name.includes('/highlight-'))
              .length,
        );
      await say(page, 'say No code.');
      await stands(page, 'complete');
      expect(await loaded()).toBe(0);
      await say(page, 'raw ```js\nconst a = "<b>" + 1; // text\n```');
      await page.locator('.hljs-keyword').waitFor();
      expect(await loaded()).toBe(1);
      expect(await page.locator('pre code').textContent()).toBe('const a = "<b>" + 1; // text\n');
      const ratios = await page.locator('pre code span').evaluateAll((spans) => {
        const canvas = document.createElement('canvas').getContext('2d');
        const light = (color: string): number => {
          if (canvas === null) return 0;
          canvas.fillStyle = color;
          canvas.fillRect(0, 0, 1, 1);
          const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
            const part = value / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        return spans.map((span) => {
          const back = light(getComputedStyle(span.closest('pre') ?? span).backgroundColor);
          const front = light(getComputedStyle(span).color);
          return (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05);
        });
      });
      expect(ratios.length).toBeGreaterThanOrEqual(4);
      expect(Math.min(...ratios)).toBeGreaterThanOrEqual(4.5);
      await page.locator('pre').hover();
      await page.locator('pre .copy').click();
      expect(await clipboardIn(page)).toBe('const a = "<b>" + 1; // text\n');
      expect(complaints).toEqual([]);
    });
});
