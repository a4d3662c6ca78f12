// Runs contract cases of a copied package, whose directory is the working directory, and stops at the first that
// fails:
//
//   node cases.mjs '["contract: retries","executor: limits"]' '\b(P5|P6)\b' 8000
//
// Runs the cases of test/checks.ts whose full names start with one of the words, first those that cite the pattern;
// two at a time, because some only wait. A case that takes longer than this many milliseconds counts as hanging. One
// that fails runs again, alone, before it counts, because a busy machine must not kill a mutant. Reports its progress
// in lines of JSON, which mutants/probe.mjs reads.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { checks } = await import(pathToFileURL(join(process.cwd(), 'test/checks.ts')).href);
const [words = '[]', cites = '', patience = ''] = process.argv.slice(2);
const [beginnings, pattern] = [JSON.parse(words), new RegExp(cites)];
const queue = checks
  .flatMap(({ name, cases }) =>
    cases().map((one) => ({ ...one, fullName: `${name}: ${one.group}: ${one.name}` })),
  )
  .filter(({ fullName, off }) => off === undefined && beginnings.some((words) => fullName.startsWith(words)))
  .sort((left, right) => Number(pattern.test(right.fullName)) - Number(pattern.test(left.fullName)));
say({ taken: queue.map(({ fullName }) => fullName) });

const suspects = [];
while (queue.length > 0) {
  await Promise.all([work(), work()]);
  for (const suspect of suspects.splice(0)) {
    const failure = await failureOf(suspect);
    if (failure === undefined) continue;
    say({ failed: suspect.fullName, ...failure });
    process.exit(1);
  }
}
process.exit(0);

async function work() {
  while (queue.length > 0 && suspects.length === 0) {
    const one = queue.shift();
    if ((await failureOf(one)) !== undefined) suspects.push(one);
  }
}

async function failureOf({ fullName, run }) {
  say({ began: fullName });
  let timer;
  const late = new Promise((settle) => {
    timer = setTimeout(settle, Number(patience), {
      message: `did not end within ${patience} ms`,
      hung: true,
    });
  });
  const failed = Promise.resolve()
    .then(run)
    .then(
      () => undefined,
      (error) => ({ message: error instanceof Error ? error.message : String(error), hung: false }),
    );
  const failure = await Promise.race([failed, late]);
  clearTimeout(timer);
  say({ ended: fullName });
  return failure;
}

function say(fact) {
  process.stdout.write(`${JSON.stringify(fact)}\n`);
}
