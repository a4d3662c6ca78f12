import { existsSync } from 'node:fs';
import { join, parse } from 'node:path';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import type { Reader } from '../../values/input.ts';
import { invalid, listOf, read, record, text, when } from '../../values/input.ts';
import type { PartFile, PartList } from './folder-parts.ts';
import { checkNames, PartProblem, readParts } from './folder-parts.ts';

/** Maximum number of cases in a file. */
const maxCases = 1000;

/** A prompt, and what the run for it must and must not do. */
export interface EvalCase {
  /** Its line in the file, from 1. */
  readonly line: number;
  readonly prompt: string;
  /** Texts that the response must contain, in upper or lower case. */
  readonly contains: readonly string[];
  /** Regular expressions that must match the response. */
  readonly matches: readonly string[];
  /** Tools that must be called. */
  readonly calls: readonly string[];
  /** Tools that must not be called. */
  readonly notCalls: readonly string[];
}

/** Cases that show whether an agent does its work. */
export interface EvalDefinition {
  readonly name: string;
  /** The path of its file. */
  readonly path: string;
  /** The directory with the files that each case finds in its working directory. */
  readonly files?: string;
  readonly cases: readonly EvalCase[];
}

const oneOrMore =
  (item: Reader<string>): Reader<readonly string[]> =>
  (value) =>
    listOf(item)(typeof value === 'string' ? [value] : value);

const filled = when<string>((value) => typeof value === 'string' && value.trim() !== '', 'a text');

const pattern: Reader<string> = (value) => {
  try {
    return new RegExp(text(value), 'u').source;
  } catch (error) {
    throw invalid(value, `Use a regular expression of JavaScript (${(error as Error).message})`);
  }
};

const fields = {
  prompt: filled,
  contains: oneOrMore(filled),
  matches: oneOrMore(pattern),
  calls: oneOrMore(filled),
  notCalls: oneOrMore(filled),
};

type WrittenCase = Pick<EvalCase, 'prompt'> & Partial<Omit<EvalCase, 'line' | 'prompt'>>;

const readCase = record<WrittenCase>(fields, ['prompt']);

/** Reads the evals of an agent: the files in `evals` with a JSON object in each line. */
export async function readEvals(folder: string): Promise<PartList<EvalDefinition>> {
  const kind = { directory: 'evals', endings: /\.jsonl$/, words: '.jsonl files' };
  return await readParts(folder, kind, readEval);
}

function readEval({ name, path, text: all }: PartFile): EvalDefinition {
  const cases = all.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [caseOf(line, at + 1)]));
  if (cases.length > maxCases)
    throw new PartProblem(`it has more than ${maxCases} cases`, cases[maxCases]?.line);
  const files = join(parse(path).dir, name);
  return { name, path, cases, ...defined({ files: existsSync(files) ? files : undefined }) };
}

function caseOf(json: string, line: number): EvalCase {
  try {
    const given: unknown = JSON.parse(json);
    checkNames(given, Object.keys(fields), 'field', line);
    return { line, contains: [], matches: [], calls: [], notCalls: [], ...read(given, readCase, 'case') };
  } catch (error) {
    throw new PartProblem(AgentError.from(error).message.replace(/\.$/, ''), line);
  }
}
