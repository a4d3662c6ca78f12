import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { citationsIn, citationsOf } from '../requirements/citations.mjs';
import { promisesPage, requirementsPage } from '../requirements/page.mjs';
import { problemsOf } from '../requirements/rules.mjs';
import { requirements } from '../requirements/table.mjs';
import { outdated, proofs } from '../requirements.mjs';

const root = join(import.meta.dirname, '../..');

// Computed, so that the names below are not citations of this file.
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

test('every requirement and promise has a test, and the pages are up to date', () => {
  const { problems, pages } = proofs(root);
  expect(problems).toEqual([]);
  expect(outdated(root, pages), 'npm run generate -- requirements').toEqual([]);
});

test('the five specifications have 102 requirements, numbered without gaps', () => {
  const counts = requirements.map(({ id, entries }) => {
    const numbers = Object.keys(entries);
    expect(numbers).toEqual(numbers.map((_, at) => `${id}.${at + 1}`));
    return [id, numbers.length];
  });
  expect(Object.fromEntries(counts)).toEqual({ S0: 32, S4: 18, S1: 16, S2: 23, S3: 13 });
});

describe('a citation is found in', () => {
  test('the name of a test, however it is computed', () => {
    expect(
      cited(`
        test('plain [${one}]', () => {});
        it.concurrent.each(['a'])('of %s [${one}]', () => {});
        test.skipIf(true)(\`with \${words} [${one}]\`, () => {});
      `),
    ).toEqual([`plain [${one}] = ${one}`, `of %s [${one}] = ${one}`, `with … [${one}] = ${one}`]);
  });

  test('the names of groups, for tests inside them only', () => {
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

  test('the cases of a contract, whatever function defines them', () => {
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

  test('the directories of tests, but not in mutants or installed packages', () => {
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

describe('it is a problem that', () => {
  const table = { id: 'S9', title: 'made up', entries: { [one]: { asks: 'something', in: ['a.ts'] } } };
  const home = () => directory({ 'a.ts': '' });
  const problems = (text: string, changed: object = {}) =>
    problemsOf(home(), [{ ...table, ...changed }], citationsOf('a.test.ts', text));
  const proof = `test('holds [${one}]', () => {});`;

  test('a requirement has no test and no reason, or a reason and a test', () => {
    const untested = { entries: { [one]: { asks: 'something', untested: 'it cannot be measured' } } };
    expect(problems(proof)).toEqual([]);
    expect(problems('')).toEqual([expect.stringContaining(`${one} has no test`)]);
    expect(problems('', untested)).toEqual([]);
    expect(problems(proof, untested)).toEqual([expect.stringContaining(`${one} has a test`)]);
  });

  test('a file is missing', () => {
    const gone = { entries: { [one]: { asks: 'something', in: ['b.ts'] } } };
    expect(problems(proof, gone)).toEqual([expect.stringContaining('b.ts, which does not exist')]);
  });

  test('a test or a departure cites an unknown number', () => {
    const departures = [{ of: ['S9', one, two], asked: '', here: '', why: '' }];
    expect(problems(`${proof} test('too [${two}]', () => {});`)).toEqual([
      expect.stringContaining(`a.test.ts:1 "too [${two}]" cites ${two}`),
    ]);
    expect(problems(proof, { departures })).toEqual([expect.stringContaining(`names ${two}`)]);
  });

  test('a test cites more than three numbers, including its groups', () => {
    const entries = Object.fromEntries(
      [1, 2, 3, 4].map((place) => [`S9.${place}`, { asks: 'something' }] as const),
    );
    const text = `describe('group [S9.4]', () => test('all [S9.1, S9.2, S9.3]', () => {}));`;
    expect(problems(text, { entries })).toEqual([expect.stringContaining('cites 4 numbers')]);
  });
});

describe('a page', () => {
  const entries = {
    [one]: { asks: 'this | that', in: ['a.ts', 'b.ts'] },
    [two]: { asks: 'more', untested: 'no' },
  };
  const departures = [{ of: [one], asked: 'so', here: 'otherwise', why: 'because' }];
  const table = { id: 'S9', title: 'made up', entries, departures };

  test('shows three tests, the clearest first, and counts the others', () => {
    const text = (file: string, name: string) => citationsOf(file, `test('${name}', () => {});`);
    const page = requirementsPage(
      [table],
      [
        ...text('e2e/a/test/a.test.ts', `far away [${one}]`),
        ...text('packages/a/test/a.test.ts', `a row %s [${one}]`),
        ...text('packages/a/test/b.test.ts', `two [${one}, P9]`),
        ...text('packages/a/test/c.test.ts', `agent: one [${one}]`),
      ],
    );
    expect(page).toContain(
      `| ${one} | this \\| that | \`a.ts\`<br>\`b.ts\` | \`packages/a/test/c.test.ts\`: agent: one<br>` +
        '`packages/a/test/b.test.ts`: two<br>`packages/a/test/a.test.ts`: a row %s<br>and 1 more |',
    );
    expect(page).toContain(`| ${two} | more |  | none: no |`);
    expect(page).toContain(`| ${one} | so | otherwise | because |`);
  });

  test('shows the name of the group that cites the number', () => {
    const text = `describe('at the door [${one}]', () => { test('nobody', () => {}); });`;
    expect(promisesPage(table, citationsOf('packages/a/test/a.test.ts', text))).toContain(
      '`packages/a/test/a.test.ts`: at the door: nobody',
    );
  });
});
