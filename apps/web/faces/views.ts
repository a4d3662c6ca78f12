import type { ServerModels } from '@cobbler/server';
import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { ScenePlaces } from './rig.ts';
import { rig, scenePlaces } from './rig.ts';
import { allow, say, scene, visit } from './visitor.ts';

/** Widths of a phone, a laptop and a large screen, in pixels. */
export const widths = [390, 1280, 1920] as const;

/** Opens a view of the page. Elements are found by their role or name, as a user finds them. */
export type OpenView = (options?: BrowserContextOptions) => Promise<Page>;

/** Every view of the page, in a window that is 1280 pixels wide unless the view exists only in a narrow one. */
export const views: Readonly<Record<string, OpenView>> = {
  'sign-in': async (options) => {
    const one = await rig();
    onTestFinished(() => one.close());
    return (await visit(one.server.url, options)).page;
  },
  'a new session': async (options) => (await scene(options)).page,
  'a choice of the model': async (options) => {
    const one = await rig({ models: sceneModels, places: scenePlaces() });
    onTestFinished(() => one.close());
    const { page } = await visit(one.address, options);
    await page.getByLabel('Effort of the next run').waitFor();
    await openDrawer(page);
    return page;
  },
  'a question before an undo': async (options) => {
    const { page, places } = await placed(options);
    await allow(page);
    await page.getByText('Done.').first().waitFor();
    places.files['src/none.js'] = 'theirs';
    await page.getByRole('button', { name: 'Undo…' }).click();
    await page.getByRole('dialog').waitFor();
    return page;
  },
  'an undone message': async (options) => {
    const { page } = await placed(options);
    await allow(page);
    await page.getByText('Done.').first().waitFor();
    await page.getByRole('button', { name: 'Undo…' }).click();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Your last message is undone.').waitFor();
    return page;
  },
  'commands in the background': async (options) => {
    const { page } = await placed(options);
    await page.getByRole('button', { name: '1 command in the background' }).click();
    await page.getByText('ready in 312 ms').first().waitFor();
    return page;
  },
  'plan mode in a new session': async (options) => {
    const { page } = await placed(options, (one) => one.getByText('until you approve a plan').waitFor());
    return page;
  },
  'a conversation with an approval': async (options) => await asking(options),
  'a finished conversation': async (options) => {
    const page = await talked(options);
    await page
      .getByRole('button', { name: /^run_command|run_command/ })
      .first()
      .click();
    return page;
  },
  'a failed run': async (options) => {
    const { page } = await scene(options);
    await say(page, 'fail now');
    await page.getByText('401 from api.example.org').first().waitFor();
    return page;
  },
  changes: async (options) => await panel('changes', options),
  usage: async (options) => await panel('usage', options),
  events: async (options) => {
    const page = await panel('events', options);
    await page
      .getByRole('button', { name: /assistant/ })
      .first()
      .click();
    return page;
  },
  costs: async (options) => {
    const page = await talked(options);
    await openDrawer(page);
    await page.getByRole('link', { name: 'Costs' }).click();
    await page.getByRole('slider').waitFor();
    return page;
  },
  'the list of sessions': async (options) => {
    const page = await talked({ ...options, viewport: { width: widths[0], height: 844 } });
    await openDrawer(page);
    await page.getByLabel('Search sessions').waitFor();
    return page;
  },
  'the list of keys': async (options) => {
    const { page } = await scene(options);
    await openDrawer(page);
    await page.getByRole('button', { name: /keys/ }).click();
    await page.getByRole('dialog').waitFor();
    return page;
  },
  'the menu': async (options) => {
    const page = await talked(options);
    await page.getByLabel('More', { exact: true }).click();
    return page;
  },
  'a search in the conversation': async (options) => {
    const page = await talked(options);
    await page.getByLabel('Find in this conversation').first().click();
    await page.keyboard.type('sum');
    return page;
  },
};

/** Opens a session of a server that offers everything, in which a call waits and a command runs in the background. */
async function placed(
  options?: BrowserContextOptions,
  start: (page: Page) => Promise<void> = async (page) => {
    await say(page, 'fix it');
    await page.getByRole('region', { name: 'Approval needed' }).waitFor();
  },
): Promise<{ page: Page; places: ScenePlaces }> {
  const places = scenePlaces();
  const facts = {
    durationMs: 125_000,
    output: 'VITE v7.1.2  ready in 312 ms\n\n  Local: http://localhost:5173/\n',
  };
  places.commands = [
    { id: 'bg1', command: 'npm run build', status: 'exit 0', ...facts },
    { id: 'bg2', command: 'npm run dev', status: 'running', ...facts },
  ];
  const one = await rig({ models: sceneModels, places });
  onTestFinished(() => one.close());
  const { page } = await visit(one.address, options);
  await page.getByRole('button', { name: 'Plan', exact: true }).click();
  await start(page);
  return { page, places };
}

const sceneModels: ServerModels = {
  list: [{ name: 'scene-model' }],
  of: () => ({ model: 'scene-model', efforts: ['low', 'high'] }),
  choose: async () => undefined,
  copy: () => undefined,
};

/** In a narrow window, opens the list of sessions. */
async function openDrawer(page: Page): Promise<void> {
  const opener = page.getByRole('button', { name: 'Sessions', exact: true });
  if (await opener.isVisible()) await opener.click();
}

/** Opens a session in which a call waits for a decision, after calls that ended and one that failed. */
export async function asking(options?: BrowserContextOptions): Promise<Page> {
  const { page } = await scene(options);
  await say(page, 'fix it');
  await page.getByRole('region', { name: 'Approval needed' }).waitFor();
  return page;
}

/** Opens a session with calls, a diff and a response with every kind of text. */
async function talked(options?: BrowserContextOptions): Promise<Page> {
  const page = await asking(options);
  await allow(page);
  await page.getByText('Done.').first().waitFor();
  await say(page, 'prose please');
  await page.getByText('The README says').first().waitFor();
  return page;
}

async function panel(name: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await talked(options);
  await page.keyboard.press('Escape');
  await page.keyboard.press('p');
  await page.getByRole('tab', { name }).last().click();
  return page;
}

/** Lets a change of the window or of the theme end. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(`Promise.all([
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    ...document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished),
  ]).then(() => 0)`);
}

/** Returns what axe finds in the page as it is now, one text for each fault. */
export async function faultsIn(page: Page): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in globalThis`)))
    await page.evaluate(`(() => { ${axe.source}; return 0; })()`);
  return await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary }) => [impact, id, target.join(' '), failureSummary].join(' | '))))`);
}
