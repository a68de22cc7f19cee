/* The search of the site, in place of MkDocs' own, whose worker and requests browsers refuse to pages that are opened from files.
   `search/index.js` sets `searchIndex`; all words of a query must occur, in titles they count most. */

function countWord(text, word, most) {
  var found = 0, at = text.indexOf(word);
  while (at >= 0 && found < most) {
    found += 1;
    at = text.indexOf(word, at + word.length);
  }
  return found;
}

function scoreSection(section, words) {
  var total = 0;
  for (var i = 0; i < words.length; i++) {
    var score = 20 * countWord(section.lowerTitle, words[i], 1) + countWord(section.lowerText, words[i], 5);
    if (!score) { return 0; }
    total += score;
  }
  return total / (1 + 0.1 * (section.location.split("/").length - 1));
}

function summarise(section, words) {
  var at = section.lowerText.indexOf(words[0]), start = Math.max(0, at - 80);
  return (start ? "… " : "") + section.text.slice(start, start + 240).trim() + (section.text.length > start + 240 ? " …" : "");
}

function searchSections(query) {
  var words = query.toLowerCase().split(/\s+/).filter(function (word) { return word.length > 1; });
  if (!words.length) { return []; }
  return searchIndex.docs
    .map(function (section) { return {section: section, score: scoreSection(section, words)}; })
    .filter(function (found) { return found.score > 0; })
    .sort(function (a, b) { return b.score - a.score; })
    .slice(0, 40)
    .map(function (found) { return {section: found.section, summary: summarise(found.section, words)}; });
}

function showResults(results, place) {
  place.textContent = results.length ? "" : place.getAttribute("data-no-results-text") || "No results found";
  results.forEach(function (result) {
    var article = document.createElement("article"), title = document.createElement("h3");
    var link = document.createElement("a"), text = document.createElement("p");
    link.href = base_url.replace(/\/$/, "") + "/" + result.section.location;
    link.textContent = result.section.title;
    text.textContent = result.summary;
    title.appendChild(link);
    article.appendChild(title);
    article.appendChild(text);
    place.appendChild(article);
  });
}

function startSearch() {
  var input = document.getElementById("mkdocs-search-query"), place = document.getElementById("mkdocs-search-results");
  searchIndex.docs.forEach(function (section) {
    section.lowerTitle = section.title.toLowerCase();
    section.lowerText = section.text.toLowerCase();
  });
  function search() { showResults(searchSections(input.value), place); }
  input.addEventListener("input", search);
  input.value = new URLSearchParams(window.location.search).get("q") || "";
  search();
}

if (document.getElementById("mkdocs-search-results")) {
  var indexScript = document.createElement("script");
  indexScript.src = base_url.replace(/\/$/, "") + "/search/index.js";
  indexScript.onload = startSearch;
  document.head.appendChild(indexScript);
}

/* The theme scrolls the sidebar so far that the page's own entry is its first line, and the search is out of sight. */
window.addEventListener("load", function () {
  window.setTimeout(function () { jQuery(".wy-side-scroll, .wy-nav-side").scrollTop(0); }, 50);
});
