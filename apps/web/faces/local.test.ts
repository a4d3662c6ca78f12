// biome-ignore-all lint/performance/useDomNodeTextContent: the test checks the text that a user sees.
import { describe, expect, onTestFinished, test } from 'vitest';
import { rig, scenePlaces } from './rig.ts';
import { allow, idle, say, sessionIn, stands, visit, withBrowser } from './visitor.ts';

withBrowser();

/** Opens the page of a server with directories. */
async function local() {
  const places = scenePlaces();
  const one = await rig({ places });
  onTestFinished(() => one.close());
  return { places, rig: one, ...(await visit(one.address)) };
}

describe('undo and redo on the page', () => {
  test('say what will change before it happens, restore files, and lead back', async () => {
    const { page, places } = await local();
    await say(page, 'say One.');
    await stands(page, 'complete');
    await say(page, 'fix it');
    await page.locator('.approval').waitFor();
    await allow(page);
    await page.getByText('Done.').first().waitFor();
    const from = sessionIn(page);
    await page.getByRole('button', { name: 'Undo…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Undo the last message?' });
    expect((await dialog.innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      /fix it These files will change: src\/sum\.js will be restored \+2 −4 src\/none\.js will be deleted The conv/,
    );
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(places.files['src/sum.js']).toBe('a + b');
    await page.getByRole('button', { name: 'Undo…' }).click();
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Undone. 2 files restored.').waitFor();
    expect(places.files).toEqual({ 'src/sum.js': 'a - b', 'src/none.js': null });
    expect(sessionIn(page)).not.toBe(from);
    await page.locator('.item.answer', { hasText: 'One.' }).waitFor();
    expect(await page.locator('.item.said').count()).toBe(1);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('message');
    await page.getByRole('button', { name: 'Redo…' }).last().click();
    await page.getByRole('button', { name: 'Redo', exact: true }).click();
    await page.waitForURL((url) => url.pathname.endsWith(from));
    expect(places.files).toEqual({ 'src/sum.js': 'a + b', 'src/none.js': '0' });
  });

  test('refuse what was not shown: the user looks again and sees whose change would be lost', async () => {
    const { page, places } = await local();
    await say(page, 'say One.');
    await stands(page, 'complete');
    await page.getByRole('button', { name: 'Undo…' }).click();
    await page.getByRole('dialog').waitFor();
    places.files['src/sum.js'] = 'theirs';
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Look at the changes again.').waitFor();
    expect(places.files['src/sum.js']).toBe('theirs');
    await page.getByRole('button', { name: 'Undo…' }).click();
    await page.getByText('Another program has changed it since. That change will be lost too.').waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Your last message is undone.').waitFor();
    // The next message ends the redo, and the menu says so.
    await say(page, 'say Two.');
    await page.locator('.item.answer', { hasText: 'Two.' }).waitFor();
    expect(await page.getByText('Your last message is undone.').count()).toBe(0);
    await stands(page, 'complete');
    await page.getByLabel('More', { exact: true }).click();
    await page.getByRole('button', { name: 'Redo…' }).click();
    await page.getByText('There is nothing to redo.').waitFor();
  });
});

describe('plan mode on the page', () => {
  test('starts a session in it, tells the model each time, and ends with an approved plan', async () => {
    const { page, rig: one } = await local();
    const toggle = page.getByRole('button', { name: 'Plan', exact: true });
    await toggle.click();
    await page.getByText('changes nothing until you approve a plan').waitFor();
    await say(page, 'plan it');
    await page.locator('.approval .plan').waitFor();
    const id = sessionIn(page);
    const modeOf = async () => (await one.ask('GET', `/v1/sessions/${id}`))['plan'];
    expect([await modeOf(), await toggle.getAttribute('aria-pressed')]).toEqual([true, 'true']);
    await one.ask('PATCH', `/v1/sessions/${id}`, { plan: false });
    await page.getByRole('button', { name: /Allow once/ }).click();
    await stands(page, 'complete');
    await expect.poll(() => toggle.getAttribute('aria-pressed')).toBe('false');
    await toggle.click();
    await expect.poll(modeOf).toBe(true);
    await say(page, 'say Two.');
    await page.locator('.item.answer', { hasText: 'Two.' }).waitFor();
    await idle(one, id);
    const notes = (await one.store.read(id)).flatMap((event) =>
      event.type === 'user' ? event.content.map((part) => (part.type === 'text' ? part.text : '')) : [],
    );
    // The approved plan had ended it.
    const note = expect.stringMatching(/^<attachment name="plan mode">\nPlan mode: until/);
    expect(notes).toEqual(['plan it', note, 'say Two.', note]);
    await say(page, 'say Three.');
    await idle(one, id);
    expect((await one.store.read(id)).findLast(({ type }) => type === 'user')).toMatchObject({
      content: [{ text: 'say Three.' }],
    });
  });
});

describe('commands in the background', () => {
  test('are announced while they run, and shown with their output as it arrives, and stopped', async () => {
    const { page, places } = await local();
    const command = { id: 'bg1', command: 'npm run dev', status: 'running', durationMs: 1_000, output: '' };
    await say(page, 'say One.');
    await stands(page, 'complete');
    expect(await page.getByText('in the background').count()).toBe(0);
    places.commands = [command];
    await say(page, 'say Two.');
    await page.getByRole('button', { name: '1 command in the background' }).click();
    await page.getByText('No output yet.').waitFor();
    places.commands = [{ ...command, output: 'ready\u001b[2J\u202e\n' }];
    await page.getByText('ready\\u{202e}').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.locator('.background', { hasText: 'stopped' }).waitFor();
    expect(places.kept).toEqual(['stop bg1']);
    await expect.poll(() => page.getByText('1 command in the background').count()).toBe(0);
  });
});
