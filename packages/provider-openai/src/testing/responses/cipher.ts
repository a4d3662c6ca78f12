/**
 * Replaces the encryption of reasoning. The mock can verify its own output when a request returns it, and detects a
 * single changed character, like the service.
 */
export function encrypt(seal: string): string {
  return `gAAAAA${digest(seal)}.${seal}`;
}

/** Returns the decrypted text; undefined if it was changed. */
export function decrypt(encrypted: string): string | undefined {
  const found = /^gAAAAA([0-9a-f]{8})\.([\s\S]*)$/.exec(encrypted);
  if (found === null) return undefined;
  const seal = found[2] ?? '';
  return digest(seal) === found[1] ? seal : undefined;
}

/** Returns a 32-bit FNV-1a hash: enough to detect a change, but not secure. */
export function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}
