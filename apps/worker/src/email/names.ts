/** Characters that mail programs accept as a host's dot. NFKC normalizes other forms to these two. */
const DOT = '[.\u3002]';

const HAS_SCHEME = /:[\\/]/;
const HAS_HOST = new RegExp(`${DOT}\\S`, 'u');
const HAS_PATH_OR_BOX = /[\\/?#@]/;
const IS_WWW = new RegExp(`^www\\d*${DOT}`, 'iu');

/** A dot makes a host (evil.com), a colon a scheme (tel:123) or a port, if a word follows. */
const JOINTS = /[.:\u3002]+/gu;

/**
 * A name as our mails may show it: one line, without links and addresses, lookalikes split (`Tutor com`). Invisible characters go first, as they
 * could hide a link.
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

/** Longer than nearly all names of people, and too short for a message: whoever enters a name chooses words of our mails. In code points. */
const LONGEST_NAME = 60;

/** The name of a person, in the same form and shortened. */
export function personName(name: string): string {
  const letters = Array.from(plainName(name));
  return letters.length <= LONGEST_NAME
    ? letters.join('')
    : `${letters
        .slice(0, LONGEST_NAME - 1)
        .join('')
        .trimEnd()}…`;
}

function isLink(word: string): boolean {
  return HAS_SCHEME.test(word) || IS_WWW.test(word) || (HAS_HOST.test(word) && HAS_PATH_OR_BOX.test(word));
}
