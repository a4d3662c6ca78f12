import type { RawOptions } from '../config/run-flags.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { optionValue } from '../terminal/option-value.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { linkToServer, refusalError } from './server-link.ts';

const levels = ['read', 'approve', 'use', 'none'];

/** Runs `cobbler sessions share`: shares a session of a running server with a user, or ends that. Returns the exit code. */
export async function shareSession(
  [id, ...others]: readonly string[],
  options: RawOptions,
  io: Io,
): Promise<number> {
  const user = options['with'];
  if (id === undefined || others.length > 0 || typeof user !== 'string')
    throw new UsageError(
      'share needs one session and one user.',
      'For example: cobbler sessions share ID --with ana --may approve',
    );
  const parseLevel = (text: string) => levels.find((level) => level === text);
  const advice = `Use one of: ${levels.join(', ')}`;
  const may = optionValue(options['may'] ?? 'read', '--may', parseLevel, advice);
  const link = linkToServer(io.env, options['url']);
  const path = `/v1/sessions/${encodeURIComponent(id)}`;
  const { status, json } = await link('PATCH', path, { share: { with: user, may } });
  if (status !== 200) throw refusalError(status, json, 'See: cobbler help sessions');
  const words = may === 'none' ? 'no longer shared' : `shared to ${may}`;
  io.stderr.write(`Session ${visible(id)} is ${words} with ${visible(user)}.\n`);
  return 0;
}
