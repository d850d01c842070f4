/** What reads more: at most so many rows, and why. */
const MORE: [answers: RegExp, most: number, reason: string][] = [
  [/[?&]search/, 8_100, 'no index has parts of words: a search reads what all are called'],
  [
    /request-log\?.*(method|route|status|api_key_id)/,
    2_100,
    'the log, of at most 100,000 requests, has one index: a second one would double what a request costs',
  ],
  [/events\?.*(types|resource)/, 3_100, 'whoever follows the feed reads each event once, also those of other types'],
  [/blog-posts\?.*(brand|status)/, 2_100, 'all posts of an organization, of which there are hundreds'],
  [/questions.*[?&]curriculum_level_id/, 4_100, 'all questions: row-level security lets no index look into arrays'],
  [/sessions\?.*student_id/, 1_100, 'all lessons of the student'],
  [/tutors\/\{tutor_id\}\/earnings/, 1_600, 'what the tutor has earned in the period'],
  [/tutors\?.*is_published.*status/, 2_100, 'the team, if PostgreSQL takes the index of either filter for the better one'],
  [/\/v1\/available-slots/, 7_100, 'those who teach the subject, and the hours, time off and sessions of each on these days'],
  [/tutors\?.*subject/, 1_800, 'those who teach the subject'],
  [/coverage\/summary\?.*subject/, 2_600, 'those who teach the subject, and where they live'],
  [/coverage\/summary\?.*postcode/, 7_100, 'the tutors, their profiles, and where they live'],
  [
    /coverage\/gaps$|coverage\/gaps\?min/,
    27_000,
    'the requests of half a year, with where their students live; the tutors; each pair of their places once',
  ],
  [/coverage\/gaps/, 3_400, 'the same of a subject'],
  [
    /recommended-tutors|^portal \/enquiries\/requests\/\{id\}/,
    23_000,
    'those who teach the subject, or all tutors if they are too few: each is given a score',
  ],
  [/^outbox_backlog/, 6_100, 'what waits is counted to 10,000'],
  [/^sample_organization_bytes/, 90_000, 'samples of up to 50,000 pages of the 20 largest tables'],
  [/^own_rows/, 26_000, 'all that names the person, once for each download: row-level security lets no index help with conversations and results'],
  [/^mend_turns/, 8_200, 'each turn, and the calls that an endpoint waits for: at most 10'],
  [/^fill_webhooks/, 1_100, 'a thousand events for each endpoint that it looks at'],
  [/GET \/v1\/users/, 2_100, 'those who have not accepted: row-level security lets no index help with what the organization supplied'],
  [/webhook-endpoints|^portal \/webhooks/, 9_100, 'what waits for an endpoint is counted up to a thousand'],
  [/^portal \/(activity|keys\/\{id\}$)/, 1_100, 'the chart is of the whole log, which has at most 100,000 requests: from its one index'],
  [/^portal \/settings\/(prices|subjects$)/, 2_100, 'all subjects, of which an organization has at most 1,000'],
  [/^portal \/[^?]*download/, 10_000, 'all of the month'],
  [/^portal \/lessons/, 3_300, 'a week has hundreds of lessons, each with its people; 500 are looked at for clashes'],
  [/^portal \/people\/\{id\}\/remove/, 10_000, 'the staff, of whom one may take over, and the open invites of the organization'],
  [/^portal \/people\/\{id\}/, 3_100, 'the open invites of the organization: who made them'],
  [
    /^portal \/money\/families(\?page.*)?$/,
    7_500,
    'who owes is counted up to a thousand open invoices: their students, who pays for them, and what all of these owe',
  ],
  [/^portal \/money(\?|$)/, 4_400, 'what is unpaid, overdue, ready and received is counted up to a thousand of each'],
  [/^portal \/money\/families/, 1_100, 'what the family has paid'],
  [/^portal (\/people|\/money|$)/, 3_300, 'what waits is counted up to a thousand of each kind'],
];

/** How many rows an answer, a page of the portal or a call of a function may read. @param most if nothing else is said of it */
export const allowedFor = (name: string, most: number): number => Math.max(most, MORE.find(([answers]) => answers.test(name))?.[1] ?? 0);
