// Checks the links in the documents.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Page } from './documents.ts';
import { proseOf } from './documents.ts';

/** Returns the broken links of a page, each as `page:line target`. */
export function brokenLinks(root: string, page: Page): string[] {
  return proseOf(page).flatMap(({ line, text }) =>
    targetsIn(text)
      .filter((target) => !leadsSomewhere(root, page, target))
      .map((target) => `${page.path}:${line} ${target}`),
  );
}

/** Returns the targets within the project. Code contains no links. */
function targetsIn(text: string): string[] {
  const prose = text.replaceAll(/`[^`]*`/g, '');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/g)];
  return targets.map(([, target = '']) => target).filter((target) => !/^[a-z]+:/i.test(target));
}

function leadsSomewhere(root: string, page: Page, target: string): boolean {
  const [path = '', anchor] = decodeURIComponent(target).split('#');
  const file = path === '' ? page.path : normalize(join(dirname(page.path), path));
  if (file.startsWith('..') || !existsSync(join(root, file))) return false;
  if (anchor === undefined || !file.endsWith('.md')) return true;
  const text = file === page.path ? page.text : readFileSync(join(root, file), 'utf8');
  return anchorsOf({ path: file, text }).has(anchor);
}

/** Returns the anchors that GitHub creates for the headings of a page. A repeated heading gets a number. */
export function anchorsOf(page: Page): Set<string> {
  const anchors = new Set<string>();
  for (const { text } of proseOf(page)) {
    const [, heading] = /^#{1,6} +(.+?)\s*$/.exec(text) ?? [];
    const [, named] = /<a (?:id|name)="([^"]+)"/.exec(text) ?? [];
    if (named !== undefined) anchors.add(named);
    if (heading === undefined) continue;
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = words.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    let name = anchor;
    for (let count = 1; anchors.has(name); count += 1) name = `${anchor}-${count}`;
    anchors.add(name);
  }
  return anchors;
}
