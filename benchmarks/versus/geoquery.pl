% Answers to the queries of GeoQuery in their own language, from the facts of geobase.pl.
%
% What a query says is taken as a whole: of a conjunction, names are bound first, then superlatives ("the longest river
% that ..."), each over all that fulfils its own goals; comparisons and negation come last.

:- set_prolog_flag(verbose, silent).
:- style_check(-discontiguous).

country(countryid(usa)).
state(stateid(S)) :- state(S, _, _, _, _, _, _, _, _, _).
city(cityid(C, A)) :- distinct(C-A, S^city_of(C, A, S)).
river(riverid(R)) :- river(R, _, _).
lake(lakeid(L)) :- lake(L, _, _).
mountain(mountainid(M)) :- mountain(_, _, M, _).
place(placeid(P)) :- distinct(P, S^place_of(P, S)).

city_of(C, A, S) :- city(S, A, C, _).
city_of(C, A, S) :- state(S, A, Capital, _, _, _, C1, C2, C3, C4), member(C, [Capital, C1, C2, C3, C4]).
place_of(P, S) :- highlow(S, _, P, _, _, _).
place_of(P, S) :- highlow(S, _, _, _, P, _).
distinct(X, Goal) :- setof(X, Goal, All), member(X, All).

capital(cityid(C, A)) :- state(_, A, C, _, _, _, _, _, _, _).
capital(stateid(S), cityid(C, A)) :- state(S, A, C, _, _, _, _, _, _, _).
loc(X, countryid(usa)) :- state(X) ; city(X) ; river(X) ; place(X) ; lake(X) ; mountain(X).
loc(cityid(C, A), stateid(S)) :- distinct(C-A-S, city_of(C, A, S)).
loc(placeid(P), stateid(S)) :- place_of(P, S).
loc(mountainid(M), stateid(S)) :- mountain(S, _, M, _).
loc(riverid(R), stateid(S)) :- river(R, _, States), member(S, States).
loc(lakeid(L), stateid(S)) :- lake(L, _, States), member(S, States).
traverse(riverid(R), stateid(S)) :- river(R, _, States), member(S, States).
traverse(riverid(R), countryid(usa)) :- river(R, _, _).
next_to(stateid(X), stateid(Y)) :- border(X, _, States), member(Y, States).
next_to(stateid(X), riverid(R)) :- river(R, _, States), member(X, States).
high_point(countryid(usa), placeid('mount mckinley')).
high_point(stateid(S), placeid(P)) :- highlow(S, _, P, _, _, _).
low_point(countryid(usa), placeid('death valley')).
low_point(stateid(S), placeid(P)) :- highlow(S, _, _, _, P, _).

area(stateid(S), A) :- state(S, _, _, _, A, _, _, _, _, _).
area(countryid(C), A) :- country(C, _, A).
area(lakeid(L), A) :- lake(L, A, _).
population(countryid(C), P) :- country(C, P, _).
population(stateid(S), P) :- state(S, _, _, P, _, _, _, _, _, _).
population(cityid(C, A), P) :- city(_, A, C, P).
density(X, D) :- population(X, P), area(X, A), D is P / A.
elevation(placeid(P), E) :- highlow(_, _, P, E, _, _).
elevation(placeid(P), E) :- highlow(_, _, _, _, P, E).
elevation(mountainid(M), E) :- mountain(_, _, M, E).
elevation(X, X) :- number(X).
len(riverid(R), L) :- river(R, L, _).
len(X, X) :- number(X).
size(X, X) :- number(X).
size(stateid(X), S) :- area(stateid(X), S).
size(countryid(X), S) :- area(countryid(X), S).
size(lakeid(X), S) :- area(lakeid(X), S).
size(cityid(X, Y), S) :- population(cityid(X, Y), S).
size(riverid(X), S) :- len(riverid(X), S).
size(placeid(X), S) :- elevation(placeid(X), S).
size(mountainid(X), S) :- elevation(mountainid(X), S).
major(cityid(C, A)) :- city(_, A, C, P), P > 150000.
major(riverid(R)) :- river(R, L, _), L > 750.
major(lakeid(L)) :- lake(L, A, _), A > 5000.

higher(X, Y) :- elevation(X, A), elevation(Y, B), A > B.
lower(X, Y) :- elevation(X, A), elevation(Y, B), A < B.
longer(X, Y) :- len(X, A), len(Y, B), A > B.
const(X, X).

largest(X, Goal) :- best(X, Goal, size, max_list).
smallest(X, Goal) :- best(X, Goal, size, min_list).
longest(X, Goal) :- best(X, Goal, len, max_list).
shortest(X, Goal) :- best(X, Goal, len, min_list).
highest(X, Goal) :- best(X, Goal, elevation, max_list).
lowest(X, Goal) :- best(X, Goal, elevation, min_list).
best(X, Goal, Measure, Choice) :-
    findall(N-X, (call(Goal), call(Measure, X, N)), Found),
    chosen(Choice, Found, X),
    call(Goal).
most(X, Y, Goal) :- by_number(X, Y, Goal, max_list).
fewest(X, Y, Goal) :- by_number(X, Y, Goal, min_list).
by_number(X, Y, Goal, Choice) :-
    findall(X-Y, call(Goal), Pairs0), sort(Pairs0, Pairs), pairs_keys(Pairs, Keys),
    findall(N-K, (sort(Keys, Ks), member(K, Ks), findall(x, (member(Other, Keys), Other == K), Xs), length(Xs, N)), Found),
    chosen(Choice, Found, X),
    once(call(Goal)).
chosen(Choice, Found, X) :-
    pairs_keys(Found, Numbers), Numbers \== [], call(Choice, Numbers, Best), distinct(X, member(Best-X, Found)).
count(X, Goal, N) :- findall(X, call(Goal), All0), sort(All0, All), length(All, N).
sum(X, Goal, Measure, Sum) :-
    Measure =.. [Name, X], Value =.. [Name, X, N],
    findall(X-N, (call(Goal), call(Value)), All0), sort(All0, All), pairs_values(All, Numbers), sum_list(Numbers, Sum).

ordered(Goal0, Goal) :- listed(Goal0, Goals), maplist(ranked, Goals, Ranked), keysort(Ranked, Sorted),
    pairs_values(Sorted, Values), joined(Values, Goal).
listed((A, B), Goals) :- !, listed(A, As), listed(B, Bs), append(As, Bs, Goals).
listed(A, [A]).
joined([A], A) :- !.
joined([A|B], (A, C)) :- joined(B, C).
ranked(G0, Rank-G) :- inner(G0, G), functor(G, Name, _), rank(Name, Rank), !.
rank(const, 0).
rank(Name, 1) :- memberchk(Name, [largest, smallest, longest, shortest, highest, lowest, most, fewest]).
rank(Name, 3) :- memberchk(Name, [higher, lower, longer]).
rank(\+, 4).
rank(_, 2).
inner(G, \+ H) :- G =.. [\+|Goals], !, joined(Goals, G0), ordered(G0, H).
inner(most(X, Y, G), most(X, Y, H)) :- !, ordered(G, H).
inner(fewest(X, Y, G), fewest(X, Y, H)) :- !, ordered(G, H).
inner(count(X, G, N), count(X, H, N)) :- !, ordered(G, H).
inner(sum(X, G, M, N), sum(X, H, M, N)) :- !, ordered(G, H).
inner(G, H) :- G =.. [Name, X, G0], rank(Name, 1), !, ordered(G0, G1), H =.. [Name, X, G1].
inner(G, G).

% A line for each query of standard input: its answers as a list of terms.
answer_all :- repeat, read_term(Query, []), ( Query == end_of_file -> ! ; answered(Query), fail ).
answered(answer(X, Goal0)) :- ordered(Goal0, Goal), findall(X, call(Goal), All0), sort(All0, All), writeq(All), nl, !.
answered(_) :- writeq(failed), nl.
