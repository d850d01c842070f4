import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Font } from 'fontkit';
import PDFDocument from 'pdfkit';
import type { Paper } from './paper.js';
import { Typesetter, type Written } from './typesetter.js';

const FONTS = join(dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')), 'ttf');
const [REGULAR, BOLD] = [join(FONTS, 'DejaVuSans.ttf'), join(FONTS, 'DejaVuSans-Bold.ttf')];

/** Of A4 (points). */
const [LEFT, RIGHT, TOP, BOTTOM] = [50, 545, 50, 780];
const WIDTH = RIGHT - LEFT;
const HALF = 235;
/** Numbers and days at the right: labels, and what they say. */
const FACTS: [label: number, value: number] = [60, 120];
/** The same of the totals. */
const TOTALS: [label: number, value: number] = [130, 100];
/** Of the columns at the right, by how many there are besides the description. */
const CELLS: Record<number, number[]> = { 1: [100], 3: [56, 64, 74], 4: [48, 62, 52, 72] };
/** The logo's place, at the top right (points). */
const LOGO: [width: number, height: number] = [160, 54];
/** Of a small picture (points): larger ones are blurred. */
const LARGEST_PIXEL = 0.75;
const GAP = 8;
const SIZE = 9;
const QUIET = '#555555';
const RULE = '#bbbbbb';

/**
 * Draws a paper by hand: the library's own tables overlap when they are tagged.
 *
 * @param cjk for Chinese, Japanese and Korean, which the bundled fonts have not
 * @returns the file; the same for the same paper and fonts
 */
export async function draw(paper: Paper, cjk: Font | null): Promise<Buffer> {
  const document = new PDFDocument({
    size: 'A4',
    margin: 0,
    bufferPages: true,
    lang: 'en-AU',
    // None to begin with: a font that is opened under two names is read anew each time.
    font: '',
    info: { Title: `${paper.title} ${factOf(paper)}`, Author: paper.name, CreationDate: new Date(paper.issuedOn) },
  });
  const chunks: Buffer[] = [];
  const ended = new Promise<Buffer>((resolve, reject) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', () => resolve(Buffer.concat(chunks)));
    document.on('error', reject);
  });
  document.registerFont('regular', REGULAR).registerFont('bold', BOLD);
  new Drawing(document, paper, new Typesetter(document, cjk)).draw();
  document.end();
  return ended;
}

const factOf = ({ facts }: Paper) => facts[0]?.[1] ?? '';

class Drawing {
  private y = TOP;

  constructor(
    private readonly document: PDFKit.PDFDocument,
    private readonly paper: Paper,
    private readonly type: Typesetter,
  ) {}

  draw(): void {
    const { paper } = this;
    this.head();
    this.table();
    this.totals();
    for (const note of paper.notes) this.block([note], LEFT, WIDTH);
    this.payment();
    this.numberPages();
  }

  private head(): void {
    const { title, seller, buyer, facts, logo } = this.paper;
    const height = this.write(title, { font: 'bold', size: 20, width: WIDTH - (logo ? LOGO[0] + GAP : 0) });
    this.y += Math.max(height, logo ? this.logo(logo) : 0) + 14;
    const top = this.y;
    const [name, ...others] = seller;
    let left = top;
    if (name) left += this.write(name, { font: 'bold', at: [LEFT, left], width: HALF }) + 2;
    for (const line of others) left += this.write(line, { at: [LEFT, left], width: HALF }) + 2;
    let right = top;
    for (const [label, value] of facts) {
      this.write(label, { at: [RIGHT - FACTS[1] - FACTS[0], right], width: FACTS[0], color: QUIET });
      right += this.write(value, { at: [RIGHT - FACTS[1], right], width: FACTS[1], align: 'right' }) + 2;
    }
    this.y = Math.max(left, right) + 16;
    if (buyer.length > 0) {
      this.y += this.write(this.paper.buyerIs, { color: QUIET }) + 2;
      this.block(buyer, LEFT, WIDTH);
    }
    this.y += 18;
  }

  /** @returns its height */
  private logo(png: string): number {
    const image = Buffer.from(png, 'base64');
    // Where every PNG has them.
    const [wide, high] = [image.readUInt32BE(16), image.readUInt32BE(20)];
    const scale = Math.min(LOGO[0] / wide, LOGO[1] / high, LARGEST_PIXEL);
    const [width, height] = [wide * scale, high * scale];
    this.document.image(image, RIGHT - width, this.y, { width, height });
    return height;
  }

  private table(): void {
    this.tableHead();
    for (const row of this.paper.rows) {
      const [text = ''] = row;
      const height = this.heightOf(text, this.descriptionWidth);
      if (this.y + height + GAP > BOTTOM) {
        this.turn();
        this.tableHead();
      }
      this.row(row);
      this.y += Math.max(height, SIZE) + GAP;
      this.rule(this.y - GAP / 2, 0.3);
    }
  }

  private tableHead(): void {
    this.row(this.paper.columns, QUIET);
    this.y += SIZE + GAP;
    this.rule(this.y - GAP / 2 + 1, 0.8);
    this.y += 2;
  }

  private get descriptionWidth(): number {
    return WIDTH - this.cells.reduce((sum, width) => sum + width, 0) - GAP;
  }

  private get cells(): number[] {
    return CELLS[this.paper.columns.length - 1]!;
  }

  private row(cells: readonly string[], color = 'black'): void {
    const [text = '', ...others] = cells;
    this.write(text, { width: this.descriptionWidth, color });
    let x = LEFT + this.descriptionWidth + GAP;
    this.cells.forEach((width, place) => {
      this.write(others[place] ?? '', { at: [x, this.y], width, align: 'right', color, shrink: true });
      x += width;
    });
  }

  private totals(): void {
    this.keep(this.paper.totals.length * 20 + 10);
    this.y += 6;
    this.paper.totals.forEach(([label, value], place) => {
      const font = place === 0 ? 'bold' : 'regular';
      const size = place === 0 ? 12 : SIZE;
      const [wide, width] = TOTALS;
      this.write(label, { font, size, at: [RIGHT - width - wide, this.y], width: wide, shrink: true });
      this.y += this.write(value, { font, size, at: [RIGHT - width, this.y], width, align: 'right', shrink: true }) + 6;
    });
    this.y += 6;
  }

  private payment(): void {
    const { payment } = this.paper;
    if (!payment) return;
    const { instructions, link, reference } = payment;
    const lines = [...(instructions?.split('\n') ?? []), `Reference: ${reference}`];
    this.keep(lines.reduce((sum, line) => sum + this.heightOf(line, WIDTH) + 2, 0) + 50);
    this.y += 10;
    this.y += this.write('How to pay', { font: 'bold', size: 11 }) + 4;
    this.block(lines, LEFT, WIDTH);
    if (link) {
      const text = `Pay at ${link.text}`;
      const height = this.write(text, { color: '#1a4f8b' });
      this.document.link(LEFT, this.y, this.document.font('regular', SIZE).widthOfString(text), height, link.href);
      this.y += height;
    }
  }

  private numberPages(): void {
    const { count } = this.document.bufferedPageRange();
    for (let page = 0; page < count; page++) {
      this.document.switchToPage(page);
      const text = count === 1 ? '' : `${factOf(this.paper)}, page ${page + 1} of ${count}`;
      if (text) this.write(text, { at: [LEFT, BOTTOM + 14], width: WIDTH, align: 'right', color: QUIET, size: 8 });
    }
  }

  /** Lines of text below each other; moves on. */
  private block(lines: readonly string[], x: number, width: number): void {
    for (const line of lines) {
      this.keep(this.heightOf(line, width));
      this.y += this.write(line, { at: [x, this.y], width }) + 2;
    }
  }

  /** Begins another page unless there is so much room. */
  private keep(height: number): void {
    if (this.y + height > BOTTOM) this.turn();
  }

  private turn(): void {
    this.document.addPage();
    this.y = TOP;
  }

  private rule(y: number, width: number): void {
    this.document.moveTo(LEFT, y).lineTo(RIGHT, y).lineWidth(width).strokeColor(RULE).stroke();
  }

  private heightOf(text: string, width: number): number {
    return this.type.heightOf(text, { font: 'regular', size: SIZE, width });
  }

  /** @returns the height of what was written */
  private write(text: string, how: Partial<Written> & { at?: [x: number, y: number] } = {}): number {
    const { font = 'regular', size = SIZE, at = [LEFT, this.y], width = WIDTH, align = 'left', color = 'black', shrink = false } = how; // prettier-ignore
    return this.type.write(text, at, { font, size, width, align, color, shrink });
  }
}
