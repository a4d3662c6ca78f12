import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContractCase } from '@cobbler/agent/testing';
import type { ChannelSubject } from '@cobbler/assistant/testing';
import { channelContract } from '@cobbler/assistant/testing';
import type { ContractSubject, StoreSubject } from '@cobbler/conformance';
import { agentContract, storeContract } from '@cobbler/conformance';
import type { MockedSubject } from '@cobbler/conformance/msw';
import { contractWays, wayCases } from '@cobbler/conformance/msw';
import type { Suite } from './suite.ts';

/** The contract for one kind of package, and how its subjects are recognized. */
interface Kind {
  readonly prefix: string;
  readonly contract: string;
  /** Returns the name of the suite for a subject. */
  called(name: string): string;
  /** Returns the variants in which a subject is tested; undefined if the value is not a subject. */
  waysOf(subject: Named): readonly Way[] | undefined;
}

interface Named {
  readonly name: string;
}

interface Way {
  /** Suffix of the name if the subject has several variants. */
  readonly name?: string;
  readonly heldBy?: string | undefined;
  /** `slack` is the share of the default time limits. */
  cases(slack?: number): readonly ContractCase[];
}

const probedGroups = 8;
const probeSlack = 0.02;

/** A subject with its own cases: some are off, or all need a server that it starts. */
type OwnCases = Omit<Suite, 'contract'>;

const kinds = {
  provider: {
    prefix: 'provider-',
    contract: 'agent',
    called: (name) => name,
    waysOf(subject) {
      if (!has<ContractSubject>(subject, 'create', 'testing')) return undefined;
      if (has<MockedSubject>(subject, 'handlers')) return mockedWays(subject);
      return [{ cases: (slack = subject.slack ?? 1) => agentContract({ ...subject, slack }) }];
    },
  },
  channel: {
    prefix: 'channel-',
    contract: 'assistant channel',
    called: (name) => `assistant channel ${name}`,
    waysOf: (subject) =>
      has<ChannelSubject>(subject, 'open') ? [{ cases: () => channelContract(subject) }] : undefined,
  },
  store: {
    prefix: 'store-',
    contract: 'store',
    called: (name) => `store ${name}`,
    waysOf: (subject) =>
      has<StoreSubject>(subject, 'place') ? [{ cases: () => storeContract(subject) }] : undefined,
  },
} as const satisfies Readonly<Record<string, Kind>>;

/**
 * Returns the suites of every package of a kind in `packages`, from the export `subjects` of its `test/subjects.ts`. A
 * new package is therefore tested without being registered. A package without that file is reported as not run.
 */
export async function packageSuites(kind: keyof typeof kinds, packages: string): Promise<readonly Suite[]> {
  const { prefix } = kinds[kind];
  const folders = readdirSync(packages)
    .filter((name) => name.startsWith(prefix) && existsSync(join(packages, name, 'package.json')))
    .sort();
  const found = await Promise.all(folders.map((folder) => suitesOf(kinds[kind], packages, folder)));
  return found.flat();
}

async function suitesOf(kind: Kind, packages: string, folder: string): Promise<readonly Suite[]> {
  const { contract, called } = kind;
  const file = join(packages, folder, 'test', 'subjects.ts');
  const place = `packages/${folder}/test/subjects.ts`;
  if (!existsSync(file)) {
    const missing = `${place} does not exist. It must export \`subjects\`, the subjects of the contract`;
    return [{ name: folder, contract, cases: () => [], missing }];
  }
  try {
    const { subjects } = (await import(pathToFileURL(file).href)) as { readonly subjects?: unknown };
    if (!Array.isArray(subjects) || subjects.length === 0)
      throw new Error('`subjects` must be a list that is not empty');
    return subjects
      .flatMap((subject: unknown) => suitesOver(kind, subject))
      .map((suite) => ({ ...suite, contract, name: called(suite.name) }));
  } catch (error) {
    return [{ name: folder, contract, cases: () => [cannotBeLoaded(place, error)] }];
  }
}

/** @throws Error for a value that is not a subject of the kind. */
function suitesOver({ contract, waysOf }: Kind, subject: unknown): readonly OwnCases[] {
  if (has<OwnCases>(subject, 'name', 'cases')) return [subject];
  const ways = has<Named>(subject, 'name') ? waysOf(subject) : undefined;
  if (ways === undefined || !has<Named>(subject, 'name'))
    throw new Error(`\`subjects\` must contain only subjects of the ${contract} contract`);
  return ways.map(({ name, heldBy, cases }) => ({
    name: name === undefined ? subject.name : `${subject.name} ${name}`,
    heldBy,
    cases: () => cases(),
    probe: () => firstOfGroups(cases(probeSlack)),
  }));
}

/** Returns the suites of a provider whose mock service consists of msw handlers: over fetch and Node's transport. */
export function mockedWays(subject: MockedSubject): readonly Way[] {
  return contractWays.map((way) => ({
    name: way.name,
    heldBy: way.name === 'fetch' ? 'msw' : undefined,
    cases: (slack = subject.slack ?? 1) => wayCases({ ...subject, slack }, way),
  }));
}

/** Returns the first case of each of the first groups. */
function firstOfGroups(cases: readonly ContractCase[]): readonly ContractCase[] {
  const groups = [...Map.groupBy(cases, ({ group }) => group).values()];
  return groups.slice(0, probedGroups).flatMap((members) => members.slice(0, 1));
}

function has<Subject>(
  given: unknown,
  ...keys: readonly (keyof Subject & string)[]
): given is Subject & object {
  return typeof given === 'object' && given !== null && keys.every((key) => key in given);
}

/** Returns a suite that fails: a package that cannot be tested has not passed. */
function cannotBeLoaded(place: string, error: unknown): ContractCase {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    group: 'subjects',
    name: 'can be loaded',
    run: () => Promise.reject(new Error(`${place} cannot be loaded: ${reason}`)),
  };
}
