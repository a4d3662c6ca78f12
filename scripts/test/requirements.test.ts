import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { citationsIn, citationsOf } from '../requirements/citations.mjs';
import { pages, problemsOf, rowsOf, withTests } from '../requirements.mjs';

const root = join(import.meta.dirname, '../..');

// Computed, so that the names below do not count as citations of this file.
const [one, two] = ['1', '2'].map((place) => `S9.${place}`) as [string, string];

/** Returns the names with citations in a test file, and their numbers. */
function cited(text: string): string[] {
  return citationsOf('a.test.ts', text).map(({ name, numbers }) => `${name} = ${numbers.join(' ')}`);
}

function directory(files: Record<string, string>): string {
  const home = mkdtempSync(join(tmpdir(), 'cobbler-requirements-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  return home;
}

const texts = pages.map((page) => readFileSync(join(root, page), 'utf8'));

test('every requirement and promise has a test, and the pages are up to date', () => {
  const citations = citationsIn(root);
  expect(problemsOf(root, texts, citations)).toEqual([]);
  for (const [at, text] of texts.entries())
    expect(withTests(text, citations), `npm run generate -- requirements changes ${pages[at]}`).toBe(text);
});

test('each requirement is broken by a mutant (npm run verify -- mutants)', () => {
  const broken = new Set<string>();
  for (const file of globSync('{packages,apps}/*/test/{mutants,mutants/*}.ts', { cwd: root }))
    for (const [, numbers = ''] of readFileSync(join(root, file), 'utf8').matchAll(/breaks: \[([^\]]*)\]/g))
      for (const [number] of numbers.matchAll(/S\d\.\d+/g)) broken.add(number);
  const numbers = texts.flatMap(rowsOf).map(({ number }) => number);
  expect(numbers.filter((number) => number.startsWith('S') && !broken.has(number))).toEqual([]);
});

test('the five specifications have 102 requirements, numbered without gaps', () => {
  const numbers = texts.flatMap(rowsOf).map(({ number }) => number);
  for (const [id, count] of Object.entries({ S0: 32, S4: 18, S1: 16, S2: 23, S3: 13 })) {
    const own = numbers.filter((number) => number.startsWith(`${id}.`));
    expect(own).toEqual(Array.from({ length: count }, (_, at) => `${id}.${at + 1}`));
  }
});

describe('a citation is found in', () => {
  test('the name of a test, including a template and a test with modifiers', () => {
    expect(
      cited(`
        test('plain [${one}]', () => {});
        it.concurrent.each(['a'])('of %s [${one}]', () => {});
        test.skipIf(true)(\`with \${words} [${one}]\`, () => {});
      `),
    ).toEqual([`plain [${one}] = ${one}`, `of %s [${one}] = ${one}`, `with … [${one}] = ${one}`]);
  });

  test('the name of a group, for the tests inside it only', () => {
    expect(
      cited(`
        describe('outer [${one}]', () => {
          describe('inner [${two}]', () => { test('deep', () => {}); });
          it('shallow [P9]', () => {});
        });
        test('behind', () => {});
      `),
    ).toEqual([`deep = ${two} ${one}`, `shallow [P9] = P9 ${one}`]);
  });

  test('the name of a contract case, for every way to define one', () => {
    expect(
      cited(`
        the('alone [${one}]', async () => {});
        the('group', 'behind its group [${one}]', async () => {});
        const cases = [{ name: 'agent: named [${one}]', run }];
        const more = { 'a key [${one}]': async () => {} };
      `),
    ).toEqual([
      `alone [${one}] = ${one}`,
      `behind its group [${one}] = ${one}`,
      `agent: named [${one}] = ${one}`,
      `a key [${one}] = ${one}`,
    ]);
  });

  test('no skipped test, comment or other text', () => {
    expect(
      cited(`
        // ${one} a comment
        test.skip('skipped [${one}]', () => {});
        it.todo('to do [${one}]');
        expectEqual(left, right, 'what ${one} counts');
        const breaks = ['${one}'];
      `),
    ).toEqual([]);
  });

  test('the test directories, but not in mutants or installed packages', () => {
    const text = `test('here [${one}]', () => {});`;
    const home = directory({
      'packages/a/test/a.test.ts': text,
      'packages/a/test/mutants.ts': text,
      'packages/a/test/mutants/a.ts': text,
      'packages/a/src/testing/contract.ts': text,
      'packages/a/src/testing/simulation/verdict.ts': text,
      'packages/a/src/a.ts': text,
      'apps/b/faces/b.test.ts': text,
      'e2e/c/src/cases.ts': text,
      'e2e/c/node_modules/d/test/d.test.ts': text,
    });
    expect(citationsIn(home).map(({ file }) => file)).toEqual([
      'apps/b/faces/b.test.ts',
      'e2e/c/src/cases.ts',
      'packages/a/src/testing/contract.ts',
      'packages/a/test/a.test.ts',
    ]);
  });
});

describe('the check reports that', () => {
  const row = `| ${one} | something | \`src/a.ts\` | |`;
  const home = () => directory({ 'src/a.ts': '' });
  const problems = (text: string, page = row) => problemsOf(home(), [page], citationsOf('a.test.ts', text));
  const proof = `test('holds [${one}]', () => {});`;

  test('a requirement has no test', () => {
    expect(problems(proof)).toEqual([]);
    expect(problems('')).toEqual([expect.stringContaining(`${one} has no test`)]);
  });

  test('a file is missing', () => {
    expect(problems(proof, row.replace('src/a.ts', 'src/b.ts'))).toEqual([
      expect.stringContaining('src/b.ts, which does not exist'),
    ]);
  });

  test('a test or a departure cites an unknown number', () => {
    expect(problems(`${proof} test('too [${two}]', () => {});`)).toEqual([
      expect.stringContaining(`a.test.ts:1 "too [${two}]" cites ${two}`),
    ]);
    expect(problems(proof, `${row}\n\n## Departures\n\n| ${one}, ${two} | | | |`)).toEqual([
      expect.stringContaining(`names ${two}`),
    ]);
  });

  test('a test and its groups cite more than three numbers', () => {
    const page = [1, 2, 3, 4].map((place) => `| S9.${place} | something | |`).join('\n');
    const text = `describe('group [S9.4]', () => test('all [S9.1, S9.2, S9.3]', () => {}));`;
    expect(problems(text, page)).toEqual([expect.stringContaining('cites 4 numbers')]);
  });
});

describe('a page', () => {
  test('shows three tests, the clearest first, and counts the others', () => {
    const text = (file: string, name: string) => citationsOf(file, `test('${name}', () => {});`);
    const page = `| ${one} | this \\| that | \`a.ts\` | old |\n| ${two} | more |  |\n`;
    const written = withTests(page, [
      ...text('e2e/a/test/a.test.ts', `far away [${one}]`),
      ...text('packages/a/test/a.test.ts', `a row %s [${one}]`),
      ...text('packages/a/test/b.test.ts', `two [${one}, P9]`),
      ...text('packages/a/test/c.test.ts', `agent: one [${one}]`),
    ]);
    expect(written).toBe(
      `| ${one} | this \\| that | \`a.ts\` | \`packages/a/test/c.test.ts\`: agent: one<br>` +
        '`packages/a/test/b.test.ts`: two<br>`packages/a/test/a.test.ts`: a row %s<br>and 1 more |\n' +
        `| ${two} | more |  |\n`,
    );
  });

  test('shows the name of the group that cites the number', () => {
    const text = `describe('at the door [${one}]', () => { test('no user', () => {}); });`;
    expect(withTests(`| ${one} | a | |`, citationsOf('packages/a/test/a.test.ts', text))).toBe(
      `| ${one} | a | \`packages/a/test/a.test.ts\`: at the door: no user |`,
    );
  });
});
