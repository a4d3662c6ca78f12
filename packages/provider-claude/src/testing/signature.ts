/**
 * Signs thinking in the mock. The real service's signature is opaque and ties the text to itself; this one
 * does the same in the open: it holds the seal of the script, and a checksum that only the unchanged text
 * and seal give, so that a changed block is refused. Text counts as it can be sent: halves of surrogate
 * pairs, which the real service never gives, are replaced.
 */
export function sign(text: string, seal: string): string {
  // Lone surrogates are escaped by JSON, so that any seal can be encoded.
  const carried = btoa(encodeURIComponent(JSON.stringify(seal)));
  return `${carried}.${checksum(`${seal}\u0000${text.toWellFormed()}`)}`;
}

/** The seal inside a signature; nothing when the mock did not make it. */
export function sealOf(signature: string): string | undefined {
  try {
    const seal: unknown = JSON.parse(decodeURIComponent(atob(signature.split('.')[0] ?? '')));
    return typeof seal === 'string' ? seal : undefined;
  } catch {
    return undefined;
  }
}

/** True if the mock signed exactly this text. */
export function isSigned(text: string, signature: string): boolean {
  const seal = sealOf(signature);
  return seal !== undefined && sign(text, seal) === signature;
}

/** FNV-1a over UTF-16 code units. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}
