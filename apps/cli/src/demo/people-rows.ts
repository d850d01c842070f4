import { DAY } from './clock.js';
import { bandOf, tierOf } from './rate-rows.js';
import type { Row, Rows, TableRows } from './rows.js';
import { iso, type Person, type School, type StaffMember } from './school.js';

/** Everybody's login. */
function* users(school: School): Rows {
  for (const person of school.staff) yield user(school, person, true);
  for (let index = 0; index < school.students; index++) {
    yield user(school, school.student(index), index % 3 === 0);
    if (school.familyOf(index) === index) {
      for (const parent of school.parentsOf(index)) yield user(school, parent, true);
    }
  }
  yield user(school, school.parentWithoutChild, false);
}

function user(school: School, person: Person, hasPhone: boolean): Row {
  const { id, email, firstName, lastName, createdAt } = person;
  // Numbers that the regulator reserves for fiction.
  const number = school.random('phone', createdAt % 1_000_003).int(1000, 9999);
  return {
    id,
    email,
    placeholder_email: email.endsWith('@placeholder.invalid'),
    first_name: firstName,
    last_name: lastName,
    phone: hasPhone ? `+61 ${school.profile.areaCode} 5550 ${number}` : null,
    created_at: iso(createdAt),
    updated_at: iso(createdAt),
  };
}

/** Staff and students. The organization knows only what it supplied about pending ones. */
function* members(school: School): Rows {
  for (const [index, person] of school.staff.entries())
    yield member(school, person, person.role, index, 'staff-member');
  for (let index = 0; index < school.students; index++) {
    yield member(school, school.student(index), 'student', index, 'member');
  }
}

function member(
  school: School,
  person: Pick<StaffMember, 'status'> & Person,
  role: string,
  index: number,
  kind: string,
) {
  const { status, createdAt } = person;
  const pending = status === 'pending';
  return {
    id: school.id(kind, index),
    user_id: person.id,
    role,
    status,
    ...(pending ? supplied(person) : {}),
    accepted_at: pending ? null : iso(createdAt + DAY),
    archived_at: status === 'archived' ? iso(school.now - 20 * DAY) : null,
    created_at: iso(createdAt),
    rate_band_id: role === 'student' ? bandOf(school, index) : null,
    staff_notes: role === 'student' && index % 5 === 0 ? 'Learns best with short tasks. Allergic to nuts.' : null,
  };
}

function supplied({ firstName, lastName, email }: Person): Row {
  return { supplied_first_name: firstName, supplied_last_name: lastName, supplied_email: email };
}

/** Of the first subjects; the others leave it to the organization. */
const TAX = ['taxable', 'free'];

function* subjects(school: School): Rows {
  for (const [place, { id, name, createdAt }] of school.subjects.entries())
    yield { id, name, created_at: iso(createdAt), tax: TAX[place] ?? null };
  const { subjects } = school;
  const former = { id: school.id('subject', subjects.length), name: 'Latin', is_archived: true };
  yield { ...former, created_at: iso(subjects[0]!.createdAt) };
}

/** Includes the owner, who also teaches. */
function* tutorProfiles(school: School): Rows {
  const { places } = school.profile;
  for (const [index, person] of school.staff.entries()) {
    if (!person.teaches) continue;
    const random = school.random('profile', index);
    const home = places[index % places.length]!;
    const mode = (['both', 'online', 'in_person'] as const)[index % 3]!;
    const travels = mode !== 'online';
    yield {
      user_id: person.id,
      bio: `${person.firstName} has tutored ${school.subject(index).name} for ${random.int(2, 12)} years.`,
      teaching_mode: mode,
      is_published: person.status === 'accepted' && index % 5 !== 4,
      avatar_url: index % 2 === 0 ? `https://images.example.com/tutors/${school.profile.slug}-${index}.jpg` : null,
      handle: `${person.firstName}-${person.lastName}-${index}`
        .normalize('NFD')
        .toLowerCase()
        .replace(/[^a-z0-9-]/g, ''),
      home_suburb: home.suburb,
      home_postcode: home.postcode,
      home_lat: home.lat,
      home_lng: home.lng,
      service_postcodes: travels ? [home.postcode, places[(index + 1) % places.length]!.postcode] : [],
      serves_all_areas: index % 7 === 6,
      max_travel_km: travels ? random.int(5, 25) : null,
      in_person_arrangements: travels ? ['student_home', 'library'] : [],
      specialisations: index % 2 === 0 ? ['exam preparation', 'ATAR scaling advice'] : ['dyslexia support'],
      tutor_tier_id: tierOf(school, index),
      meeting_url: school.roomOf(person),
      created_at: iso(person.createdAt),
    };
  }
}

function* tutorSubjects(school: School): Rows {
  for (const [index, person] of school.staff.entries()) {
    if (!person.teaches) continue;
    for (const step of [0, 1, 3]) {
      const created_at = iso(person.createdAt);
      yield { user_id: person.id, subject_id: school.subject(index + step).id, created_at };
    }
  }
}

/** Each student has a tutor in a subject; some also have a second one for no particular subject. */
function* tutorStudents(school: School): Rows {
  for (let index = 0; index < school.students; index++) {
    const { id: student_id, status, createdAt } = school.student(index);
    if (status === 'pending') continue;
    const ended = status === 'archived';
    const [tutor, second] = [school.teacherOf(index), school.teacherOf(index + 1)];
    const relation = {
      student_id,
      status: ended ? 'archived' : 'active',
      archived_at: ended ? iso(school.now - 20 * DAY) : null,
      created_at: iso(createdAt + DAY),
    };
    yield {
      id: school.id('relation', index * 2),
      tutor_id: tutor.id,
      subject_id: school.subject(index).id,
      ...relation,
    };
    if (index % 5 === 0) {
      yield {
        id: school.id('relation', index * 2 + 1),
        tutor_id: second.id,
        subject_id: null,
        ...relation,
      };
    }
  }
}

function* parents(school: School): Rows {
  for (let index = 0; index < school.students; index++) {
    if (school.familyOf(index) !== index) continue;
    const status = index % 12 === 4 ? 'pending' : index % 12 === 10 ? 'archived' : 'accepted';
    for (const person of school.parentsOf(index)) {
      const { id: user_id, createdAt } = person;
      yield { user_id, status, ...(status === 'pending' ? supplied(person) : {}), created_at: iso(createdAt) };
    }
  }
  const { id: user_id, createdAt } = school.parentWithoutChild;
  yield { user_id, created_at: iso(createdAt) };
}

function* parentStudents(school: School): Rows {
  for (let index = 0; index < school.students; index++) {
    const { id: student_id, createdAt } = school.student(index);
    for (const parent of school.parentsOf(index)) {
      yield { parent_id: parent.id, student_id, linked_at: iso(createdAt + 2 * DAY) };
    }
  }
}

export const peopleRows: TableRows = {
  users,
  members,
  subjects,
  tutor_profiles: tutorProfiles,
  tutor_subjects: tutorSubjects,
  tutor_students: tutorStudents,
  parents,
  parent_students: parentStudents,
};
