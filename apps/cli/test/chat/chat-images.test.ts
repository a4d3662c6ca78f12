import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import type { ReadProgram } from '../../src/chat/input/clipboard.ts';
import { clipboardImage, PastedImages, programReader } from '../../src/chat/input/clipboard.ts';
import { droppedFiles } from '../../src/chat/input/references.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { chatStage } from './chat-stage.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const part = { type: 'file', mediaType: 'image/png', data: png.toString('base64'), name: 'shot' };

/** Returns a reader of programs that print the given bytes, and the names of those that were run. */
function programs(printed: Readonly<Record<string, Uint8Array | string>>) {
  const ran: string[] = [];
  const read: ReadProgram = async ([name]) => {
    ran.push(name);
    const bytes = printed[name];
    return typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  };
  return { ran, read };
}

describe('the image in the clipboard', () => {
  const [wayland, x11] = [{ WAYLAND_DISPLAY: 'w' }, { DISPLAY: ':0' }];

  test.each([
    ['linux', wayland, { 'wl-paste': png }, ['wl-paste']],
    ['linux', x11, { xclip: png }, ['xclip']],
    ['linux', { ...wayland, ...x11 }, { 'wl-paste': '', xclip: png }, ['wl-paste', 'xclip']],
    [
      'linux',
      { WSL_DISTRO_NAME: 'U' },
      { 'powershell.exe': `${png.toString('base64')}\r\n` },
      ['powershell.exe'],
    ],
    ['win32', {}, { 'powershell.exe': png.toString('base64') }, ['powershell.exe']],
    ['darwin', {}, { pngpaste: png }, ['pngpaste']],
    ['darwin', {}, { osascript: `«data PNGf${png.toString('hex')}»\n` }, ['pngpaste', 'osascript']],
  ])('is read on %s with %j', async (platform, env, printed, expected) => {
    const { ran, read } = programs(printed as Record<string, string>);
    expect(await clipboardImage('shot', read, env, platform)).toEqual(part);
    expect(ran).toEqual(expected);
  });

  test.each([
    ['linux', {}, {}, 'No program on this machine can read images', 'wl-clipboard (Wayland), xclip (X11)'],
    ['linux', x11, {}, 'No program on this machine can read images', 'xclip'],
    ['darwin', {}, { osascript: 'error' }, 'The clipboard contains no image.', 'type @'],
    ['linux', x11, { xclip: 'some text' }, 'The clipboard contains no image.', 'type @'],
  ])('on %s with %j and %j: %s', async (platform, env, printed, message, advice) => {
    const { read } = programs(printed as Record<string, string>);
    await expect(clipboardImage('shot', read, env, platform)).rejects.toMatchObject({
      message: expect.stringContaining(message),
      advice: [expect.stringContaining(advice)],
    });
  });

  test('is read from a real program, without the keys of this process', async () => {
    const read = programReader({ PATH: process.env['PATH'], DISPLAY: ':7', API_KEY: 'secret' }, '/');
    const printed = await read(['sh', '-c', 'echo "$DISPLAY$API_KEY"; echo no >&2']);
    expect(Buffer.from(printed ?? []).toString()).toBe(':7\n');
    expect(await read(['no-such-program-here'])).toBeUndefined();
  });

  test('a chat keeps the last twenty', async () => {
    const images = new PastedImages({ DISPLAY: ':0' }, async () => png);
    for (let count = 0; count < 21; count += 1) await images.paste();
    expect(images.in('[image 1] [image 2] [image 21]')).toMatchObject([
      { name: 'image 2' },
      { name: 'image 21' },
    ]);
  });
});

describe('in the chat', () => {
  test('Ctrl-V and /paste attach it as a label, which Backspace removes; a run gets it as the next prompt', async () => {
    const agent = scriptedAgent([{ text: 'One.', delayMs: 5 }, 'Two.']);
    const { read } = programs({ xclip: png });
    const stage = await chatStage({ agent, env: { DISPLAY: ':0' }, readProgram: read });
    stage.type('see\x16');
    await stage.until('› see [image 1]');
    stage.type('\x7f', '\x7f');
    expect(stage.foot(2)).not.toContain('[image');
    stage.type('\x15', '/paste', '\r');
    await stage.until('› [image 2]');
    stage.type('what is it?', '\r', 'and this\x16');
    await stage.until('› and this [image 3]');
    stage.type('\r');
    await stage.until('↳ next: and this [image 3]');
    await stage.until('Two.');
    const [first, second] = agent.requests.map(({ messages }) => messages.at(-1)?.content);
    const image = (number: number) => ({ ...part, name: `image ${number}` });
    expect(first).toEqual([{ type: 'text', text: '[image 2] what is it?' }, image(2)]);
    expect(second).toEqual([{ type: 'text', text: 'and this [image 3] ' }, image(3)]);
  });

  test('says what is missing if there is no image', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]), readProgram: async () => undefined });
    stage.type('\x16');
    await stage.until('No program on this machine can read images');
  });

  test('a dropped file becomes a reference, which Backspace removes', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a b.png'), png);
    const agent = scriptedAgent(['Seen.']);
    const stage = await chatStage({ agent, folder });
    stage.type('see', `\x1b[200~'${join(folder, 'a b.png')}'\x1b[201~`);
    expect(stage.foot(2)).toContain('› see @"a b.png"');
    stage.type('\x7f', '\x7f');
    expect(stage.foot(2)).not.toContain('png');
    stage.type(`\x1b[200~${join(folder, 'a b.png')}\x1b[201~`, '\r');
    await stage.until('Seen.');
    const content = agent.requests[0]?.messages.at(-1)?.content;
    expect(content).toEqual([
      { type: 'text', text: 'see @"a b.png" ' },
      { ...part, name: 'a b.png' },
    ]);
  });
});

test('a pasted text is a dropped file only if it is nothing but paths of images and PDFs', () => {
  const folder = temporaryFolder();
  const other = temporaryFolder();
  mkdirSync(join(folder, 'sub'));
  for (const path of [
    join(folder, 'sub/it’s.png'),
    join(other, 'a b.PDF'),
    join(other, 'c.txt'),
    join(other, 'd.png'),
  ])
    writeFileSync(path, '');
  const dropped = (text: string) => droppedFiles(text, folder);
  const pdf = join(other, 'a b.PDF');
  expect(dropped(`${pdf}\n`)).toEqual([`@"${pdf}"`]);
  expect(dropped(pdf.replaceAll(' ', '\\ '))).toEqual([`@"${pdf}"`]);
  expect(dropped(pathToFileURL(pdf).href)).toEqual([`@"${pdf}"`]);
  expect(dropped(`'${pdf}' "${join(other, 'd.png')}"`)).toEqual([`@"${pdf}"`, `@${join(other, 'd.png')}`]);
  expect(dropped(join(folder, 'sub/it’s.png'))).toEqual(['@sub/it’s.png']);
  for (const text of [
    '',
    'sub/it’s.png',
    join(other, 'c.txt'),
    join(other, 'e.png'),
    `see ${pdf}`,
    `${pdf} now`,
  ])
    expect(dropped(text)).toBeUndefined();
  expect(dropped(`file://%zz/a.png`)).toBeUndefined();
  expect(dropped(`/${'x'.repeat(3000)}.png`)).toBeUndefined();
});
