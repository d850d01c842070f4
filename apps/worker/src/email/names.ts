/** What mail programs take for the dot of a host; NFKC makes other forms of them into these two. */
const DOT = '[.\u3002]';

const HAS_SCHEME = /:[\\/]/;
const HAS_HOST = new RegExp(`${DOT}\\S`, 'u');
const HAS_PATH_OR_BOX = /[\\/?#@]/;
const IS_WWW = new RegExp(`^www\\d*${DOT}`, 'iu');

/** A dot makes a host (evil.com), a colon a scheme (tel:123) or a port, where a word goes on behind it. */
const JOINTS = /[.:\u3002]+/gu;

/**
 * A name that a person or an organization gave itself, as it may stand in a mail of ours: one line, and nothing that a mail
 * program turns into a link. Links and addresses go; what could be read as one is pulled apart, so that `Tutor.com` becomes
 * `Tutor com`. Invisible characters go first: they could hide a link, or turn its letters around.
 */
export function plainName(name: string): string {
  const visible = name
    .normalize('NFKC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/\p{C}/gu, '');
  const words = visible.split(/\s+/u).filter((word) => !isLink(word));
  const text = words.join(' ');
  const apart = text.replace(JOINTS, (joint, at: number) => (/\S/.test(text.charAt(at + joint.length)) ? ' ' : joint));
  return apart.replace(/ +/g, ' ').trim();
}

function isLink(word: string): boolean {
  return HAS_SCHEME.test(word) || IS_WWW.test(word) || (HAS_HOST.test(word) && HAS_PATH_OR_BOX.test(word));
}
