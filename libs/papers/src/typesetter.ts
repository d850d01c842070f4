import type { Font } from 'fontkit';

/** A text's place and look. */
export interface Written {
  font: 'regular' | 'bold';
  size: number;
  width: number;
  align: 'left' | 'right';
  color: string;
  /** A number is never broken. */
  shrink: boolean;
}

type Measured = Pick<Written, 'font' | 'size' | 'width'>;

/** A part of a line in one font. */
interface Run {
  font: string;
  text: string;
}

/** What is written in the other font: by ranges, because Node's own data on scripts change with its versions. */
const CJK = String.raw`\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\u{20000}-\u{3ffff}`;
const IN_CJK = new RegExp(`[${CJK}]`, 'u');
/** Lines end between words, and within one that is longer than a line. */
const WORDS = /\S*\s+|\S+/g;
const RUNS = new RegExp(`[${CJK}]+|[^${CJK}]+`, 'gu');

/** Of DejaVu, in ems: letters of both fonts stand on the same line. */
const ASCENDER = 0.928;

/** Writes texts, each letter in the font that has it. */
export class Typesetter {
  constructor(
    private readonly document: PDFKit.PDFDocument,
    private readonly cjk: Font | null,
  ) {
    if (cjk) document.registerFont('cjk', cjk as unknown as PDFKit.Mixins.PDFFontSource);
  }

  heightOf(given: string, how: Measured): number {
    const text = given.normalize('NFC');
    if (this.isMixed(text)) return this.linesOf(text, how).length * this.lineHeight(how);
    return this.document.font(how.font, how.size).heightOfString(text, { width: how.width });
  }

  /** @returns the height of what was written */
  write(given: string, [x, y]: [x: number, y: number], { shrink, ...how }: Written): number {
    const { document } = this;
    const text = given.normalize('NFC');
    const { width } = how;
    const wide = shrink ? this.widthOf(text, how) : 0;
    const size = wide > width - 2 ? (how.size * (width - 2)) / wide : how.size;
    document.fillColor(how.color);
    if (this.isMixed(text)) return this.writeLines(this.linesOf(text, { ...how, size }), [x, y], { ...how, size });
    document.font(how.font, size).text(text, x, y, { width, align: how.align, lineBreak: true });
    return document.heightOfString(text, { width });
  }

  /** The library writes a paragraph in one font. */
  private isMixed(text: string): boolean {
    return this.cjk !== null && IN_CJK.test(text);
  }

  private writeLines(lines: string[], [x, y]: [x: number, y: number], how: Omit<Written, 'shrink'>): number {
    const height = this.lineHeight(how);
    lines.forEach((line, place) => {
      let at = how.align === 'right' ? x + how.width - this.widthOf(line, how) : x;
      for (const { font, text } of runsOf(line, how.font)) {
        const options = { lineBreak: false, baseline: 'alphabetic' } as const;
        this.document.font(font, how.size).text(text, at, y + place * height + ASCENDER * how.size, options);
        at += this.document.widthOfString(text);
      }
    });
    return lines.length * height;
  }

  private linesOf(text: string, how: Measured): string[] {
    return text.split('\n').flatMap((paragraph) => {
      const fits = (line: string) => this.widthOf(line.trimEnd(), how) <= how.width;
      const lines = [''];
      for (const piece of (paragraph.match(WORDS) ?? []).flatMap((word) => (fits(word) ? [word] : Array.from(word)))) {
        const longer = lines.at(-1)! + piece;
        if (lines.at(-1) === '' || fits(longer)) lines[lines.length - 1] = longer;
        else lines.push(piece);
      }
      return lines.map((line) => line.trimEnd());
    });
  }

  private widthOf(text: string, { font, size }: Omit<Measured, 'width'>): number {
    const runs = this.isMixed(text) ? runsOf(text, font) : [{ font, text }];
    return runs.reduce((sum, run) => sum + this.document.font(run.font, size).widthOfString(run.text), 0);
  }

  private lineHeight({ font, size }: Omit<Measured, 'width'>): number {
    return this.document.font(font, size).currentLineHeight(true);
  }
}

const runsOf = (text: string, font: string): Run[] =>
  (text.match(RUNS) ?? []).map((run) => ({ text: run, font: IN_CJK.test(run) ? 'cjk' : font }));
