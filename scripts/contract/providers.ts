import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContractCase, ContractSubject } from '@cobbler/agent/testing';
import { agentContract } from '@cobbler/agent/testing';
import type { Suite } from './suite.ts';

/** A subject that says itself which of the contract's cases are off for it. */
interface OwnCases {
  readonly name: string;
  cases(): readonly ContractCase[];
}

/**
 * Every provider that lies in `packages/provider-*`, by what its `test/subjects.ts` exports as `subjects`: so one that
 * is added is under contract without being named anywhere. One without that file is named as not run.
 */
export async function providerSuites(packages: string): Promise<readonly Suite[]> {
  const folders = readdirSync(packages)
    .filter((name) => name.startsWith('provider-') && existsSync(join(packages, name, 'package.json')))
    .sort();
  const found = await Promise.all(folders.map((folder) => suitesOf(packages, folder)));
  return found.flat();
}

async function suitesOf(packages: string, folder: string): Promise<readonly Suite[]> {
  const file = join(packages, folder, 'test', 'subjects.ts');
  const place = `packages/${folder}/test/subjects.ts`;
  if (!existsSync(file)) {
    const missing = `there is no ${place}, which exports \`subjects\`, what the contract is run on`;
    return [{ name: folder, contract: 'agent', cases: () => [], missing }];
  }
  try {
    const { subjects } = (await import(pathToFileURL(file).href)) as { readonly subjects?: unknown };
    if (!Array.isArray(subjects) || subjects.length === 0 || !subjects.every(isSubject)) {
      throw new Error('`subjects` is no list of subjects of the contract');
    }
    return subjects.map((subject) => ({
      name: subject.name,
      contract: 'agent',
      cases: () => casesOf(subject),
    }));
  } catch (error) {
    return [{ name: folder, contract: 'agent', cases: () => [cannotBeLoaded(place, error)] }];
  }
}

function isSubject(value: unknown): value is ContractSubject | OwnCases {
  if (typeof value !== 'object' || value === null || !('name' in value)) return false;
  return typeof value.name === 'string' && ('cases' in value || ('create' in value && 'testing' in value));
}

function casesOf(subject: ContractSubject | OwnCases): readonly ContractCase[] {
  return 'cases' in subject ? subject.cases() : agentContract(subject);
}

/** A provider that cannot be tried has not passed. */
function cannotBeLoaded(place: string, error: unknown): ContractCase {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    group: 'subjects',
    name: 'can be loaded',
    run: () => Promise.reject(new Error(`${place} cannot be used: ${reason}`)),
  };
}
