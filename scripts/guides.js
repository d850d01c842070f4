// Writes the guides beside the reference: pages of docs/ in the style of the landing page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';

/** @param root of the checkout @param target the folder of the pages */
export function writeGuides(root, target) {
  const assets = join(root, 'apps', 'api', 'assets');
  const guides = JSON.parse(readFileSync(join(assets, 'guides.json'), 'utf8'));
  const template = readFileSync(join(assets, 'guide.html'), 'utf8');
  mkdirSync(target, { recursive: true });
  for (const [name, [title]] of Object.entries(guides)) {
    const text = readFileSync(join(root, 'docs', `${name}.md`), 'utf8');
    const body = marked
      .parse(text, { mangle: false, headerIds: false })
      // Links to other guides lead there; the other pages of docs/ are for operators, and not served.
      .replaceAll(/<a href="(?!https?:)([^"]*)">(.*?)<\/a>/g, (_, link, words) => {
        const other = link.replace(/\.md$/, '');
        return other in guides ? `<a href="${other}">${words}</a>` : words;
      })
      .replaceAll('<pre>', '<pre tabindex="0">')
      .replaceAll('<table>', '<div class="wide" role="region" aria-label="Table" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>');
    writeFileSync(
      join(target, `${name}.html`),
      template.replace('{{title}}', title).replace('{{body}}', () => body),
    );
  }
}
