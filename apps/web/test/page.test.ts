import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { fingerprint, loadPage } from '../src/page.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('the built page', () => {
  test('is complete and small, and contains no path of the machine that built it', async () => {
    const files = await loadPage();
    const names = Object.keys(files).sort();
    const plain = names.map((name) => name.replace(/-[\w-]{8}(?=\.)/, ''));
    const later = '/assets/highlight.js';
    expect(plain.sort()).toEqual(['/', later, '/assets/notices.txt', '/assets/page.css', '/assets/page.js']);
    const isLater = (name: string) => name.startsWith('/assets/highlight-');
    const size = (chosen: readonly string[]) => chosen.map((name) => files[name]?.text ?? '').join('').length;
    for (const { text } of Object.values(files)) expect(text).not.toContain(root);
    expect(size(names.filter((name) => !isLater(name)))).toBeLessThan(289_200);
    // The colors of code, which the page loads with the first block of code.
    expect(size(names.filter(isLater))).toBeLessThan(155_000);
    expect(files['/']?.text).not.toContain('highlight');
    for (const name of names.filter((one) => one.endsWith('.js')))
      expect(files[name]?.text).not.toMatch(/\beval\(|new Function\(|document\.write\(/);
    const notices = files['/assets/notices.txt']?.text ?? '';
    for (const name of ['preact', 'marked', 'dompurify', 'highlight.js'])
      expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });

  test('is the same for the same sources', async () => {
    const [first, second] = [await loadPage(), await loadPage()];
    expect(second).toEqual(first);
    expect(fingerprint()).toBe(fingerprint());
  });
});
