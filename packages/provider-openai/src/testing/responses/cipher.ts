/**
 * Replaces the encryption of reasoning: the mock can verify its output when it comes back, so that it detects a single
 * changed character, like the service.
 */
export function encrypt(seal: string): string {
  return `gAAAAA${digest(seal)}.${seal}`;
}

/** The encrypted text; undefined if it was changed. */
export function decrypt(encrypted: string): string | undefined {
  const found = /^gAAAAA([0-9a-f]{8})\.([\s\S]*)$/.exec(encrypted);
  if (found === null) return undefined;
  const seal = found[2] ?? '';
  return digest(seal) === found[1] ? seal : undefined;
}

/** FNV-1a, 32 bits: enough to notice a change, not to hide anything. */
export function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}
