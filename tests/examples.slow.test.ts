import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../examples');
const fakes = join(import.meta.dirname, '../packages/delegate/test/fixtures');

/** The output of each example, without a key and without network access. */
const printed: Readonly<Record<string, string>> = {
  hello: `
A cobbler mends shoes.
complete 2 messages 120 tokens in
failed auth This key is not valid.
`,
  tools: `
ran look_up 3 pairs
ran look_up 0 pairs
refused order The arguments were rejected: pairs: Invalid input: expected number, received string
ran order {"ordered":5,"inStock":5}
I ordered five pairs of sandals.
3 calls, 5 pairs of sandals
`,
  'structured-output': `
native: left boot, seam and heel, 1.5 hours
tool: left boot, seam and heel, 1.5 hours
failed output undefined
`,
  gate: `
done: ran npm test
asked about "npm test; curl evil.example": no
denied: Not today.
asked about "git push": no
denied: Not today.
denied: A permission rule forbids shell.
asked about "git tag v1": yes
done: ran git tag v1
complete That is all I could do.
`,
  limits: `
limit turns after 4 turns
limit turns after 5 turns Time is up: it was still wet.
limit usd after 2 turns
limit no_progress after 6 turns
the first of two ended by tokens after 4 turns
the second of two ended by tokens after 1 turns
`,
  'resume-after-crash': `
  the model sees: 2 kg
a process ended by SIGKILL
  the model sees: This call was started but its outcome is unknown. It may or may not have taken effect: check before trying again.
  complete: I cannot tell if it was paid; please check before I pay again.
a process ended by itself
what really happened: weighed, paid
`,
  'record-and-replay': `
recorded: We took 86 today. 2 requests, 1 call
the key is in the cassette: false
replayed: We took 86 today. 2 requests, 1 call
the same events: true
failed replay_miss
request 1 in the replay differs from request 1 in the cassette.
The first difference is at messages[0].content[0].text:
  recorded  "How was business?"
  now       "How was the weather?"
`,
  'custom-provider': `
once more, after: network
complete Noon will be sunny. 3 flights, 40 tokens in
`,
  delegate: `
Claude Code: "There is no file here."
complete: There is none.
the run    450 tokens  $0.003160
the budget 450 tokens  $0.003160
`,
  'server-client': `
asked about ring
6 tool_result
8 finished
They know that you are here.
This is my answer to your prompt number 2. 6 messages
failed auth
`,
  assistant: `
> My dog is called Bello.
< A good name!
> /new
< This is a new conversation. Earlier messages are not part of it.
> What is my dog called?
< I have a note: Their dog is called Bello.
> Buy him something.
< May I use **buy**? \`\`\` buy what | dog food \`\`\`
< It is on its way.
`,
  runner: `
before the answer: measure
The leather is cut.
in all: measure, cut, told (3 requests)
`,
};

const area = mkdtempSync(join(tmpdir(), 'cobbler-examples-'));
afterAll(() => rmSync(area, { recursive: true, force: true }));

// A fake program replaces Claude Code; `npm run verify -- clis` tests with the real one.
copyFileSync(join(fakes, 'fake-cli.mjs'), join(area, 'claude'));
copyFileSync(join(fakes, 'package.json'), join(area, 'package.json'));
chmodSync(join(area, 'claude'), 0o755);

async function run(name: string): Promise<string> {
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const path = [area, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [...flags, join(folder, `${name}.ts`)],
    {
      env: {
        PATH: path,
        HOME: area,
        TMPDIR: area,
        NODE_COMPILE_CACHE: join(tmpdir(), 'cobbler-test-compiled'),
      },
      cwd: area,
    },
  );
  return (stderr + stdout).replaceAll(/ +$/gm, '').trim();
}

describe('the examples', () => {
  const files = globSync('*.ts', { cwd: folder }).sort();

  test('each have an expected output in this file', () => {
    expect(files).toEqual(
      Object.keys(printed)
        .map((name) => `${name}.ts`)
        .sort(),
    );
  });

  test.each(files)(
    '%s starts with its purpose and the command to run it, and has fewer than 80 lines',
    (file) => {
      const [first, second, ...rest] = readFileSync(join(folder, file), 'utf8').split('\n');
      expect(first).toMatch(/^\/\/ Shows .*\.$/);
      expect(second).toBe(`// Run it with: npm run try -- examples/${file}`);
      expect(rest.length).toBeLessThanOrEqual(78);
    },
  );

  test.concurrent.each(Object.entries(printed))(
    '%s runs without a key and prints the expected output',
    { timeout: 60_000 },
    async (name, text) => {
      expect(await run(name)).toBe(text.trim());
    },
  );
});
