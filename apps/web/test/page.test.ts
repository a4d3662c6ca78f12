import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { fingerprint, loadPage } from '../src/page.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('the built page', () => {
  test('is complete and small, and contains no path of the machine that built it', async () => {
    const files = await loadPage();
    const names = Object.keys(files).sort();
    const plain = names.map((name) => name.replace(/-[\w-]{8}(?=\.)/, ''));
    expect(plain.sort()).toEqual(['/', '/assets/notices.txt', '/assets/page.css', '/assets/page.js']);
    const all = Object.values(files).map(({ text }) => text);
    for (const text of all) expect(text).not.toContain(root);
    expect(all.join('').length).toBeLessThan(262_800);
    const script = files[names.find((name) => name.endsWith('.js')) ?? '']?.text ?? '';
    expect(script).not.toMatch(/\beval\(|new Function\(|document\.write\(/);
    const notices = files['/assets/notices.txt']?.text ?? '';
    for (const name of ['preact', 'marked', 'dompurify'])
      expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });

  test('is the same for the same sources', async () => {
    const [first, second] = [await loadPage(), await loadPage()];
    expect(second).toEqual(first);
    expect(fingerprint()).toBe(fingerprint());
  });
});
