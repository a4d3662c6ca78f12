import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileBlobs } from '@cobbler/agent/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { offload } from '../../src/context/offload.ts';
import { defineTool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import { resultTexts } from '../../src/testing/conversation.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'blobs-'));
  folder = join(root, 'kept');
});
afterEach(() => rmSync(root, { recursive: true }));

const all = { start: 0, end: 1_000_000 };
const bytes = (text: string) => new TextEncoder().encode(text);
const text = async (id: string, blobs = fileBlobs(folder)) => {
  const part = await blobs.get(id, all);
  return part && new TextDecoder().decode(part.bytes);
};
const age = (name: string, ms: number) => {
  const then = new Date(Date.now() - ms);
  utimesSync(join(folder, name), then, then);
};

describe('fileBlobs', () => {
  it('creates its directory for the first blob, with access for the owner only', async () => {
    expect(await text('a')).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    await fileBlobs(folder).put('a', bytes('one'));
    expect([statSync(folder).mode & 0o777, statSync(join(folder, 'blob-a')).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });

  it('reads blobs that another instance wrote', async () => {
    const [one, other] = [fileBlobs(folder), fileBlobs(folder)];
    await one.put('a', bytes('from one'));
    await other.put('b', bytes('from the other'));
    expect([await text('a', other), await text('b', one), await text('b')]).toEqual([
      'from one',
      'from the other',
      'from the other',
    ]);
  });

  it('deletes an abandoned partial file and keeps a recent one', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'part-1'), 'half');
    writeFileSync(join(folder, 'part-2'), 'half of somebody who still writes');
    age('part-1', 3_700_000);
    await fileBlobs(folder).put('a', bytes('whole'));
    expect(readdirSync(folder).sort()).toEqual(['blob-a', 'part-2']);
  });

  it('rewrites a blob whose file is incomplete', async () => {
    await fileBlobs(folder).put('a', bytes('whole'));
    writeFileSync(join(folder, 'blob-a'), 'who');
    await fileBlobs(folder).put('a', bytes('whole'));
    expect(await text('a')).toBe('whole');
  });

  it('deletes the oldest blobs of all instances to stay within maxBytes', async () => {
    const put = async (id: string) => await fileBlobs(folder, { maxBytes: 10 }).put(id, new Uint8Array(4));
    await put('a');
    await put('b');
    age('blob-a', 1_000);
    age('blob-b', 2_000);
    await put('c');
    expect(readdirSync(folder).sort()).toEqual(['blob-a', 'blob-c']);
  });

  it('deletes blobs not written for a week', async () => {
    const day = 86_400_000;
    for (const id of ['old', 'new', 'again']) await fileBlobs(folder).put(id, bytes('x'));
    for (const id of ['old', 'again']) age(`blob-${id}`, 8 * day);
    age('blob-new', 6 * day);
    const blobs = fileBlobs(folder, { maxAgeMs: 9 * day });
    await blobs.put('again', bytes('x'));
    await fileBlobs(folder).put('more', bytes('x'));
    expect(readdirSync(folder).sort()).toEqual(['blob-again', 'blob-more', 'blob-new']);
  });

  it('never leaves its directory, by id or by symbolic link [P21]', async () => {
    const secret = join(root, 'secret.txt');
    writeFileSync(secret, 'nobody should read this');
    const blobs = fileBlobs(folder);
    await blobs.put('a', bytes('one'));
    symlinkSync(secret, join(folder, 'blob-link'));
    mkdirSync(join(folder, 'blob-folder'));
    for (const id of ['link', 'folder', '../secret.txt', '../../etc/passwd', 'a/../link', secret]) {
      expect(await blobs.get(id, all)).toBeUndefined();
    }
    // `put` replaces the link and does not write to its target.
    await blobs.put('link', bytes('mine'));
    expect([readFileSync(secret, 'utf8'), await text('link')]).toEqual(['nobody should read this', 'mine']);
  });

  it('leaves other files in the directory alone, whatever their age or size', async () => {
    mkdirSync(folder);
    for (const name of ['notes.txt', 'blob-Not An Id', 'blobs']) {
      writeFileSync(join(folder, name), 'x'.repeat(100));
      age(name, 1e11);
    }
    await fileBlobs(folder, { maxBytes: 1 }).put('a', bytes('one'));
    expect(readdirSync(folder).sort()).toEqual(['blob-Not An Id', 'blob-a', 'blobs', 'notes.txt']);
  });

  it('names the blob, but no path, in an error', async () => {
    writeFileSync(folder, 'a file stands here');
    const putting = Promise.resolve(fileBlobs(folder).put('a', bytes('one')));
    const failure = await putting.catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'tool' });
    expect(String(failure)).toContain('blob a');
    expect(String(failure)).not.toContain(root);
  });

  it('stores the output of a run for another run to read [P10]', async () => {
    const whole = Array.from({ length: 20_000 }, (_, line) => `${line}`).join('\n');
    const long = defineTool({
      name: 'long',
      description: 'Long.',
      parameters: { type: 'object' },
      execute: () => whole,
    });
    const first = await new Executor({
      agent: scriptedModel([calls(['long']), textResponse('Done.')]),
      tools: [long],
      context: { offload: offload(fileBlobs(folder)) },
    }).run('Go.');
    const args = JSON.parse(
      /read_blob with (\{.*\}) reads/.exec(resultTexts(first.messages)[0] ?? '')?.[1] ?? '{}',
    );
    const second = await new Executor({
      agent: scriptedModel([
        calls([{ name: 'read_blob', arguments: { ...args, bytes: 100 } }]),
        textResponse('Done.'),
      ]),
      context: { offload: offload(fileBlobs(folder)) },
    }).run([...first.messages, { role: 'user', content: [{ type: 'text', text: 'Read on.' }] }]);
    expect(resultTexts(second.messages).at(-1)).toContain(whole.slice(args.offset, args.offset + 100));
  });
});
